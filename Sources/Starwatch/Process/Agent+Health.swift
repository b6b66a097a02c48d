import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Whether the agent lives, and whether it can do its work.
extension Agent {
    /// How long the store may be at one thing before questions about how the agent is do without it.
    static let patience = Duration.seconds(1)
    /// How long the first such question waits.
    static let longestPatience = Duration.seconds(5)
    /// How long the store may be silent: longer than it may wait for another program's lock, more than once.
    static let longestStoreSilence = Duration.seconds(60)

    package func isHealthy() async -> Bool {
        guard lifecycle.phase != .starting else { return false }
        // The scheduler looks at the clock every 30 s at the latest, unless a cycle sits out a wait or a slow answer.
        let longestCycleSilence = RetryDecision.longestInlineWait * 2 + options.server.timeout * 2
        // Nothing is asked here: what is stuck would not answer.
        let stuck = process.progress.stuck(at: time.monotonic) { line in
            switch line {
            case .poll: longestCycleSilence
            case .store: Self.longestStoreSilence
            }
        }
        return stuck.isEmpty
    }

    package func notReady() async -> [String] {
        var reasons: [String] = []
        switch lifecycle.phase {
        case .starting: reasons.append("starting")
        case .draining: reasons.append("draining")
        case .running: break
        }
        do throws(StoreError) {
            guard store.health.failure == nil, await storeAnswers() else { throw .busy }
            if try await store.activeIdentity().did == nil { reasons.append("signed_out") }
        } catch {
            reasons.append("store_unavailable")
        }
        return reasons
    }

    /// Whether the store does what it is asked in a time that scrapers and people wait.
    func storeAnswers() async -> Bool {
        guard !store.health.isBusy(longerThan: Self.patience) else { return false }
        let answer = Promise<Bool>()
        store.whenIdle { answer.fulfil(true) }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await answer.value() ?? false }
            // By the real clock: nobody moves another one on for it.
            group.addTask {
                try? await SystemClock().sleep(for: Self.longestPatience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Finds out how the store is, notes that it answers, and tells the supervisor.
    func beat(_ supervisor: Supervisor) async {
        // An error is an answer too. Starting the agent anew would not mend the disk.
        try? await store.probe()
        process.progress.mark(.store, at: time.monotonic)
        if await isHealthy() { supervisor.progress() }
        guard lifecycle.phase == .running else { return }
        let (notReady, reasons) = (await notReady(), await status().reasons)
        if !notReady.isEmpty {
            supervisor.say("Not ready: \(notReady.joined(separator: ", ")).")
        } else {
            supervisor.say(reasons.isEmpty ? "Running." : "Running, degraded: \(reasons.joined(separator: ", ")).")
        }
    }
}
