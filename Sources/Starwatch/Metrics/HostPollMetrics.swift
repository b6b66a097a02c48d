package import StarwatchPolling
package import StarwatchTelemetry

extension HostPollOutcome: MetricLabel {}

/// The polls that a host application defines. Details: an agent on its own has none.
package struct HostPollMetrics: Sendable {
    package let polls: MetricVector1<HostPollOutcome, Counter>
    package let duration: Histogram

    init(registry: MetricRegistry) {
        polls = registry.counters(
            .counter(
                "starwatch_host_polls_total",
                "Polls that a host application defined, by how they ended.",
                stability: .detail
            ),
            by: LabelDimension("outcome")
        )
        duration = registry.histogram(
            .histogram(
                "starwatch_host_poll_seconds",
                "Duration of polls that a host application defined, their waits included.",
                stability: .detail
            ),
            bounds: Buckets.cycle
        )
    }

    func count(_ outcome: HostPollOutcome, duration: Duration) {
        polls[outcome].increment()
        self.duration.observe(duration)
    }
}
