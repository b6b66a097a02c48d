package import StarwatchPolling
package import StarwatchTelemetry

extension HostPollOutcome: MetricLabel {}

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

    func count(_ outcome: HostPollOutcome, duration: Duration) {
        polls[outcome].increment()
        self.duration.observe(duration)
    }
}
