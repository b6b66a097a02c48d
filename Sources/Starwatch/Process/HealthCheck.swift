import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// Liveness and readiness of the agent.
struct HealthCheck: Sendable {
    let process: AgentProcess
    /// The timeout of a request to the server.
    let requestTimeout: Duration
    let fleet: Fleet?

    private var store: Store { process.store }
    private var lifecycle: AgentLifecycle { process.lifecycle }
    private var now: Duration { process.environment.time.monotonic }

    /// The maximum silence of the store. It exceeds repeated waits for another program's lock.
    static let longestStoreSilence = Duration.seconds(60)

    func isHealthy() async -> Bool {
        guard lifecycle.phase != .starting else { return false }
        // The scheduler checks the clock at least every 30 s, unless a cycle is in a wait or a slow request.
        let longestCycleSilence = RetryDecision.longestInlineWait * 2 + requestTimeout * 2
        // This check asks nothing of the parts, because a stuck part would not answer.
        let stuck = process.progress.stuck(at: now) { line in
            switch line {
            case .poll: longestCycleSilence
            case .store: Self.longestStoreSilence
            }
        }
        return stuck.isEmpty
    }

    /// The state of the check of the database's pages: `running`, `passed`, `damaged` or `ended`; `nil` if the database was
    /// closed in good order.
    var databaseCheck: String? { store.status.pageCheckPhase == .unneeded ? nil : store.status.pageCheckPhase.name }

    /// - Parameter isAnswering: Whether the store has just responded.
    func notReady(isAnswering: Bool = false) async -> [String] {
        var reasons: [String] = []
        switch lifecycle.phase {
        case .starting: reasons.append("starting")
        case .draining: reasons.append("draining")
        case .running: break
        }
        var facts = HealthFacts()
        facts.storeFault = store.health.failure?.fault ?? (store.status.isFileLost ? .lost : nil)
        do throws(StoreError) {
            guard facts.storeFault == nil else { throw .busy }
            if !isAnswering, await !StorePatience.suffices(for: store) { throw .busy }
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

    /// Probes the store, records that it responds, and reports to the supervisor.
    ///
    /// - Parameter status: The agent's status.
    func report(to supervisor: Supervisor, _ status: () async -> AgentStatus) async {
        // An error is also a response. A restart of the agent would not fix the disk.
        try? await store.status.probe()
        process.progress.mark(.store, at: now)
        if await isHealthy() { supervisor.progress() }
        let status = await status()
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

/// The patience of scrapers and people with a busy store.
enum StorePatience {
    /// Returns whether the store responds in time. A request does not wait for a store that is slow already; the first one
    /// waits for five times as long as an access may take.
    static func suffices(for store: Store) async -> Bool {
        guard !store.health.isSlow else { return false }
        let answer = Promise<Bool>()
        store.status.whenIdle { answer.fulfil(true) }
        // Uses the real clock, because nothing advances a simulated one here.
        return await TimeLimit.run(within: store.health.patience * 5, on: SystemClock(), late: false) {
            await answer.value() ?? false
        } ?? false
    }
}

/// The facts about the agent's health that are not in its database.
struct HealthReader: Sendable {
    let runtime: AccountRuntime

    private var process: AgentProcess { runtime.process }
    private var lifecycle: AgentLifecycle { process.lifecycle }
    private var metrics: AgentMetrics { process.environment.metrics }
    private var time: any TimeSource { process.environment.time }

    func facts() async -> HealthFacts {
        var facts = HealthFacts()
        let (gate, seen) = (runtime.account.gate, lifecycle.seen)
        let clock = process.environment.clock
        facts.isSkewed = clock.isSkewed
        facts.certificates = metrics.problems.certificates.all.map {
            Certificate(of: $0.owner, expiry: clock.local($0.expiry))
        }
        facts.serverCircuit = await gate.shownCircuit
        facts.hold = await gate.hold(now: time.now)
        facts.failedAcknowledgements = runtime.acknowledger.failedPasses
        facts.acknowledgementFailure = runtime.acknowledger.lastFailure
        facts.refusedReload = seen.refusedReload
        facts.refusedPorts = lifecycle.refusedPorts.map(\.rawValue).sorted()
        facts.isIdle =
            runtime.options.polls.isEmpty && runtime.options.digests.isEmpty && !lifecycle.isEmbedded
            && !metrics.showsHostPolls
        facts.tokensLeft = await runtime.account.api.tokens.poolRemaining
        facts.answers = seen.answers(metrics.api.totals, at: time.monotonic)
        facts.restarts = process.runs.ends()
        facts.jump = seen.jump(at: time.boottime)
        facts.scrapeSilence = seen.scrapeSilence(at: time.monotonic)
        let files = process.store.status.fileSizes()
        if let files, let free = files.freeDisk {
            facts.disk = HealthFacts.Disk(free: free, used: files.database + files.wal)
        }
        return facts
    }

    /// The reason why the database cannot be used; `nil` if it can.
    var storeFault: HealthFacts.StoreFault? {
        if process.store.status.pageCheckPhase == .damaged { return .damaged }
        return process.store.health.fault?.fault ?? (process.store.status.isFileLost ? .lost : nil)
    }
}

extension StoreErrorKind {
    var fault: HealthFacts.StoreFault {
        switch self {
        case .corrupt: .damaged
        case .full: .full
        case .busy: .busy
        case .io, .version: .unusable
        }
    }
}

extension APIMetrics {
    /// The totals of all requests to the server that were not cancelled.
    fileprivate var totals: AnswerWindow.Totals {
        var totals = AnswerWindow.Totals()
        for endpoint in Endpoint.allCases {
            for result in RequestResult.allCases where result != .cancelled {
                let count = Int(requests[endpoint, result].value)
                totals.requests += count
                if result.isServerFault {
                    totals.failed += count
                } else if !result.isSuccess {
                    totals.refused += count
                }
            }
            let counts = latency[endpoint].counts
            if totals.buckets.isEmpty {
                totals.buckets = counts
            } else {
                for (index, count) in counts.enumerated() { totals.buckets[index] += count }
            }
        }
        totals.longest = longest.take()
        return totals
    }
}
