import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

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
        facts.isSkewed = process.environment.clock.isSkewed
        facts.serverCircuit = await gate.shownCircuit
        facts.hold = await gate.hold(now: time.now)
        facts.failedAcknowledgements = runtime.acknowledger.failedPasses
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
        facts.disk = files.freeDisk > 0 ? HealthFacts.Disk(free: files.freeDisk, used: files.database + files.wal) : nil
        return facts
    }

    /// The reason why the database cannot be used; `nil` if it can.
    var storeFault: HealthFacts.StoreFault? {
        process.store.status.pageCheckPhase == .damaged ? .damaged : process.store.health.fault?.fault
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
                if result.isServerFault { totals.failed += count }
            }
            let counts = latency[endpoint].counts
            if totals.buckets.isEmpty {
                totals.buckets = counts
            } else {
                for (index, count) in counts.enumerated() { totals.buckets[index] += count }
            }
        }
        return totals
    }
}
