import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// Liveness and readiness of the agent.
extension AgentTopics {
    package func isHealthy() async -> Bool {
        guard process.lifecycle.phase != .starting else { return false }
        // The scheduler checks the clock at least every 30 s, unless a cycle is in a wait or a slow request.
        let longestCycleSilence = RetryDecision.longestInlineWait * 2 + process.options.server.timeout * 2
        // This check asks nothing of the parts, because a stuck part would not answer.
        let stuck = process.progress.stuck(at: process.environment.time.monotonic) { line in
            switch line {
            case .poll: longestCycleSilence
            // It exceeds repeated waits for another program's lock.
            case .store: .seconds(60)
            }
        }
        return stuck.isEmpty
    }

    package var databaseCheck: String? {
        let phase = process.store.status.pageCheckPhase
        return phase == .unneeded ? nil : phase.name
    }

    package func notReady() async -> [String] { await notReady(isAnswering: false) }

    /// - Parameter isAnswering: Whether the store has just responded.
    private func notReady(isAnswering: Bool) async -> [String] {
        var reasons: [String] = []
        switch process.lifecycle.phase {
        case .starting: reasons.append("starting")
        case .draining: reasons.append("draining")
        case .running: break
        }
        let store = process.store
        var facts = HealthFacts()
        (facts.storeFault, facts.isStoreLost) = (store.health.failure, store.status.isFileLost)
        do throws(StoreError) {
            guard facts.storeFault == nil, !facts.isStoreLost else { throw .busy }
            if !isAnswering, await !process.storeAnswersInTime() { throw .busy }
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
        try? await process.store.status.probe()
        process.progress.mark(.store, at: process.environment.time.monotonic)
        if await isHealthy() { supervisor.progress() }
        let status = await status.look()
        let headline = status.headline
        guard supervisor.isThere, process.lifecycle.phase == .running else { return }
        let notReady = await notReady(isAnswering: true)
        if !notReady.isEmpty {
            supervisor.say("Not ready: \(notReady.joined(separator: ", ")).")
        } else {
            let notice = status.notice.map { " \($0)." } ?? ""
            supervisor.say((headline.map { "Running, degraded. \($0)." } ?? "Running.") + notice)
        }
    }
}
