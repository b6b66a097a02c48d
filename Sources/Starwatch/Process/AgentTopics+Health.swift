import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// Liveness and readiness of the agent.
extension AgentTopics {
    private var store: Store { process.store }
    private var lifecycle: AgentLifecycle { process.lifecycle }
    private var now: Duration { process.environment.time.monotonic }

    /// The maximum silence of the store. It exceeds repeated waits for another program's lock.
    private static let longestStoreSilence = Duration.seconds(60)

    package func isHealthy() async -> Bool {
        guard lifecycle.phase != .starting else { return false }
        // The scheduler checks the clock at least every 30 s, unless a cycle is in a wait or a slow request.
        let longestCycleSilence = RetryDecision.longestInlineWait * 2 + process.options.server.timeout * 2
        // This check asks nothing of the parts, because a stuck part would not answer.
        let stuck = process.progress.stuck(at: now) { line in
            switch line {
            case .poll: longestCycleSilence
            case .store: Self.longestStoreSilence
            }
        }
        return stuck.isEmpty
    }

    package var databaseCheck: String? {
        store.status.pageCheckPhase == .unneeded ? nil : store.status.pageCheckPhase.name
    }

    package func notReady() async -> [String] { await notReady(isAnswering: false) }

    /// - Parameter isAnswering: Whether the store has just responded.
    private func notReady(isAnswering: Bool) async -> [String] {
        var reasons: [String] = []
        switch lifecycle.phase {
        case .starting: reasons.append("starting")
        case .draining: reasons.append("draining")
        case .running: break
        }
        var facts = HealthFacts()
        (facts.storeFault, facts.isStoreLost) = (store.health.failure, store.status.isFileLost)
        do throws(StoreError) {
            guard facts.storeFault == nil, !facts.isStoreLost else { throw .busy }
            if !isAnswering, await !store.answersInTime() { throw .busy }
            facts.isSignedOut =
                if let fleet { try await fleet.accounts.counts().active == 0 } else {
                    try await store.identity.active().did == nil
                }
        } catch {
            facts.canReadStore = false
        }
        let problems = HealthDecision.problems(facts, now: process.environment.time.now)
        return reasons + problems.filter(\.kind.preventsReadiness).map(\.word)
    }

    /// Probes the store, records that it responds, looks for problems, and reports to the supervisor.
    func report(to supervisor: Supervisor) async {
        // An error is also a response. A restart of the agent would not fix the disk.
        try? await store.status.probe()
        process.progress.mark(.store, at: now)
        if await isHealthy() { supervisor.progress() }
        let status = await status.look()
        let headline = status.headline
        guard supervisor.isThere, lifecycle.phase == .running else { return }
        let notReady = await notReady(isAnswering: true)
        if !notReady.isEmpty {
            supervisor.say("Not ready: \(notReady.joined(separator: ", ")).")
        } else {
            let notice = status.notice.map { " \($0)." } ?? ""
            supervisor.say((headline.map { "Running, degraded. \($0)." } ?? "Running.") + notice)
        }
    }
}

extension Store {
    /// Returns whether the store responds in time for scrapers and people. A request does not wait for a store that is slow
    /// already; the first one waits for five times as long as an access may take.
    func answersInTime() async -> Bool {
        guard !health.isSlow else { return false }
        let answer = Promise<Bool>()
        status.whenIdle { answer.fulfil(true) }
        // Uses the real clock, because nothing advances a simulated one here.
        return await TimeLimit.run(within: health.patience * 5, on: SystemClock(), late: false) {
            await answer.value() ?? false
        } ?? false
    }
}
