import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Liveness and readiness of the agent.
extension Agent {
    /// The time after which a status request no longer waits for a busy store.
    static let patience = Duration.seconds(1)
    /// The wait of the first such request.
    static let longestPatience = Duration.seconds(5)
    /// The maximum silence of the store. It exceeds repeated waits for another program's lock.
    static let longestStoreSilence = Duration.seconds(60)

    package func isHealthy() async -> Bool {
        guard lifecycle.phase != .starting else { return false }
        // The scheduler checks the clock at least every 30 s, unless a cycle is in a wait or a slow request.
        let longestCycleSilence = RetryDecision.longestInlineWait * 2 + options.server.timeout * 2
        // This check asks nothing of the parts, because a stuck part would not answer.
        let stuck = process.progress.stuck(at: time.monotonic) { line in
            switch line {
            case .poll: longestCycleSilence
            case .store: Self.longestStoreSilence
            }
        }
        return stuck.isEmpty
    }

    package func notReady() async -> [String] { await notReady(answers: storeAnswers) }

    private func notReady(answers: () async -> Bool) async -> [String] {
        var reasons: [String] = []
        switch lifecycle.phase {
        case .starting: reasons.append("starting")
        case .draining: reasons.append("draining")
        case .running: break
        }
        do throws(StoreError) {
            guard store.health.failure == nil, await answers() else { throw .busy }
            if try await store.activeIdentity().did == nil { reasons.append("signed_out") }
        } catch {
            reasons.append("store_unavailable")
        }
        return reasons
    }

    package var databaseCheck: String? { store.pageCheckPhase == .unneeded ? nil : store.pageCheckPhase.name }

    /// Returns whether the store responds within the time that scrapers and people wait.
    func storeAnswers() async -> Bool {
        guard !store.health.isBusy(longerThan: Self.patience) else { return false }
        let answer = Promise<Bool>()
        store.whenIdle { answer.fulfil(true) }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await answer.value() ?? false }
            // Uses the real clock, because nothing advances a simulated one here.
            group.addTask {
                try? await SystemClock().sleep(for: Self.longestPatience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Probes the store, records that it responds, and reports to the supervisor.
    func reportHealth(to supervisor: Supervisor) async {
        // An error is also a response. A restart of the agent would not fix the disk.
        try? await store.probe()
        process.progress.mark(.store, at: time.monotonic)
        if await isHealthy() { supervisor.progress() }
        guard supervisor.isThere, lifecycle.phase == .running else { return }
        // The store has just answered the probe.
        let (notReady, headline) = (await notReady { true }, await status().headline)
        if !notReady.isEmpty {
            supervisor.say("Not ready: \(notReady.joined(separator: ", ")).")
        } else {
            supervisor.say(headline.map { "Running, degraded. \($0)." } ?? "Running.")
        }
    }
}
