import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

extension AgentStatus {
    /// Shows the facts in JSON's words.
    mutating func show(_ facts: HealthFacts, now: Timestamp) {
        server.circuit = facts.serverCircuit.rawValue
        server.throttledUntil = facts.hold?.until?.iso8601
        server.answers = Answers(facts.answers)
        (server.requestsLeft, server.tokenExpires) = (facts.requestsLeft, facts.tokenExpiry?.iso8601)
        disk = facts.disk.map(Disk.init)
        certificates = Dictionary(uniqueKeysWithValues: facts.certificates.map { ($0.owner.word, $0.expiry.iso8601) })
        restarts = Restarts(facts.restarts, now: now)
        polls = Dictionary(uniqueKeysWithValues: facts.polls.map { ($0.name, Poll($0)) })
        outbox.show(facts.outbox)
        for sink in facts.sinks {
            outbox.sinks[sink.name] = sink.word
            outbox.sinkReasons[sink.name] = sink.failure?.description
            outbox.sinkLastSuccess?[sink.name] = sink.lastSuccess?.iso8601
        }
    }
}

extension AgentStatus.Clock {
    init(_ clock: ServerClock) {
        skewSeconds = clock.estimate?.offset.inSeconds.withoutNoise
        uncertaintySeconds = clock.estimate?.uncertainty.inSeconds.withoutNoise
        lastSync = clock.lastSync?.iso8601
        serverTime = clock.now.iso8601
    }
}

extension AgentStatus.Outbox {
    fileprivate mutating func show(_ facts: HealthFacts.Outbox) {
        (pending, claimed, delivered, dead) = (facts.pending, facts.claimed, facts.delivered, facts.dead)
        (quarantined, givenUp, ledgerImbalance) = (facts.quarantined, facts.undelivered, facts.imbalance)
        (capacity, backpressure) = (facts.capacity, facts.isUnderPressure)
        (oldestPending, oldestDue) = (facts.oldestPending?.iso8601, facts.oldestDue?.iso8601)
    }
}

extension AgentStatus.LastDay {
    init(_ ledger: Ledger) {
        (stored, delivered) = (ledger.new, ledger.delivered)
        (acknowledged, failed) = (ledger.acknowledged, ledger.dead)
    }
}

extension AgentStatus.Poll {
    fileprivate init(_ facts: HealthFacts.Poll) {
        self.init(kind: facts.kind, stale: facts.isStale, staleAfterSeconds: facts.staleAfter.inSeconds)
        (lastAttempt, lastSuccess) = (facts.last.attempted?.iso8601, facts.last.succeeded?.iso8601)
        (lastOutcome, lastNew) = (facts.lastOutcome?.rawValue, facts.lastNew?.iso8601)
        (seenUntil, nextRun) = (facts.seenUntil?.iso8601, facts.nextRun?.iso8601)
        (watermarkTime, fetchCursorTime) = (facts.watermark?.iso8601, facts.fetchCursor?.iso8601)
        (ownProjects, projectsLeftOut) = (facts.ownPlans, facts.leavesPlansOut ? true : nil)
        (skipReason, skippedSince) = (facts.skip, facts.skippedSince?.iso8601)
        (lastReason, lastError) = (facts.lastReason?.description, facts.lastReason?.sentence)
        (needsAction, failingSince) = (facts.needsAction, facts.failingSince?.iso8601)
    }
}

extension HealthFacts.Sink {
    /// The state in one word.
    fileprivate var word: String {
        switch condition {
        case .disabled, .rejecting: condition.rawValue
        // The first attempt after a reload does not wait.
        case .down where circuit == .closed: CircuitState.halfOpen.rawValue
        case .down, .working: circuit.rawValue
        }
    }
}

extension AgentMetrics {
    /// The summary of the polls that the contract set describes, computed from its metrics.
    func summary(of polls: [HealthFacts.Poll]) -> PollingMetrics {
        var summary = PollingMetrics()
        let names = contractPolls.map(\.text)
        summary.lastPollTimestamp = polls.filter { names.contains($0.name) }.compactMap(\.last.attempted).max()?.iso8601
        guard !contractPolls.isEmpty else { return summary }
        func sum(_ vector: MetricVector1<ConfiguredName, Counter>) -> Int {
            contractPolls.reduce(0) { $0 + Int(vector[$1].value) }
        }
        summary.pollsTotal = sum(self.polls.attempts)
        summary.pollsSuccessful = sum(self.polls.successes)
        summary.pollsFailed = sum(self.polls.failures)
        summary.changesFound = sum(self.polls.changesFound)
        let notifications = contractPolls.flatMap { outbox.notifications.all($0) }
        summary.notificationsGenerated = notifications.reduce(0) { $0 + Int($1.value) }
        summary.throttlesHit = Int(api.requests[Self.contractEndpoint, .rateLimited].value)
        let latency = api.latency[Self.contractEndpoint]
        let requests = latency.counts.reduce(0, +)
        if requests > 0 { summary.averageResponseTime = (latency.sum / Double(requests)).withoutNoise }
        return summary
    }
}

extension APIMetrics {
    /// The totals of all requests to the server that were not cancelled, without those to servers of lists.
    ///
    /// - Parameter longest: The longest of them since the last totals, in seconds.
    func totals(longest: Double) -> AnswerWindow.Totals {
        var totals = AnswerWindow.Totals()
        totals.longest = longest
        for endpoint in Endpoint.allCases where endpoint != .list {
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
        return totals
    }
}
