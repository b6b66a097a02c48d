package import StarwatchTelemetry

/// Outcome of a host application's poll.
package enum HostPollOutcome: String, MetricLabel {
    case ok, empty
    case notModified = "not_modified"
    case failed, cancelled
}

/// Metrics of polls that a host application defines. They are details, because a standalone agent has none.
package struct HostPollMetrics: Sendable {
    package let polls: MetricVector1<HostPollOutcome, Counter>
    package let duration: Histogram

    init(registry: MetricRegistry) {
        polls = registry.counters(
            .counter(
                "starwatch_host_polls_total",
                "Polls defined by a host application, by outcome.",
                stability: .detail
            ),
            by: LabelDimension("outcome")
        )
        duration = registry.histogram(
            .histogram(
                "starwatch_host_poll_seconds",
                "Duration of polls defined by a host application, including waits.",
                stability: .detail
            ),
            bounds: Buckets.cycle
        )
    }

    func count<Response>(_ outcome: PollResult<Response>.Outcome, duration: Duration) {
        let word: HostPollOutcome =
            switch outcome {
            case .value: .ok
            case .empty: .empty
            case .notModified: .notModified
            case .failure(let error): error.code == .cancelled ? .cancelled : .failed
            }
        polls[word].increment()
        self.duration.observe(duration)
    }
}
