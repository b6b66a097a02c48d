import StarwatchCore
import StarwatchTelemetry

extension AgentMetrics {
    /// The summary, computed from the metrics.
    ///
    /// - Parameter lastPoll: The stored time of the last attempt.
    func summary(lastPoll: String?) -> PollingMetrics {
        var summary = PollingMetrics()
        summary.lastPollTimestamp = lastPoll
        guard let poll = pollNames[Self.contractPoll] else { return summary }
        summary.pollsTotal = Int(polls.attempts[poll].value)
        summary.pollsSuccessful = Int(polls.successes[poll].value)
        summary.pollsFailed = Int(polls.failures[poll].value)
        summary.changesFound = Int(polls.changesFound[poll].value)
        summary.notificationsGenerated = outbox.notifications.all(poll).reduce(0) { $0 + Int($1.value) }
        summary.throttlesHit = Int(api.requests[Self.contractEndpoint, .rateLimited].value)
        let latency = api.latency[Self.contractEndpoint]
        let requests = latency.counts.reduce(0, +)
        if requests > 0 { summary.averageResponseTime = (latency.sum / Double(requests)).withoutNoise }
        return summary
    }
}
