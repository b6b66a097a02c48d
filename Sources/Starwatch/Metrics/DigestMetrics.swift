package import StarwatchCore
package import StarwatchTelemetry

extension SlotStatus: MetricLabel {}

/// Metrics of digests.
package struct DigestMetrics: Sendable {
    package let prefetches: MetricVector1<DigestPrefetchOutcome, Counter>
    package let deliveries: MetricVector1<SlotStatus, Counter>
    package let lateness: Histogram

    init(registry: MetricRegistry) {
        prefetches = registry.counters(
            .counter("starwatch_digest_prefetches_total", "Fetches of digest content, by outcome."),
            by: LabelDimension("outcome")
        )
        deliveries = registry.counters(
            .counter(
                "starwatch_digest_deliveries_total",
                "Digest occurrences, by status."
            ),
            by: LabelDimension("status")
        )
        lateness = registry.histogram(
            .histogram(
                "starwatch_digest_lateness_seconds",
                "Delay between a digest's time and its delivery to the sinks."
            ),
            bounds: Buckets.lateness
        )
    }
}
