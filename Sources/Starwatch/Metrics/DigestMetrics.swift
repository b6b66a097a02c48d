package import StarwatchCore
package import StarwatchTelemetry

extension SlotStatus: MetricLabel {}
extension CallbackKind: MetricLabel {}

/// Result of queueing or sending a callback event.
package enum CallbackOutcome: String, MetricLabel {
    case queued, sent
    /// The receiver rejected the event, and the agent retries it.
    case refused
    /// The receiver was unreachable, and the agent retries the event.
    case unavailable
}

/// Metrics of digests and their callbacks.
package struct DigestMetrics: Sendable {
    package let prefetches: MetricVector1<DigestPrefetchOutcome, Counter>
    package let deliveries: MetricVector1<SlotStatus, Counter>
    package let lateness: Histogram
    package let callbacks: MetricVector2<CallbackKind, CallbackOutcome, Counter>
    package let callbacksDropped: Counter
    package let callbacksWaiting: Gauge

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
        callbacks = registry.counters(
            .counter("starwatch_callback_events_total", "Callback events queued, and attempts to send them."),
            by: LabelDimension("kind"),
            LabelDimension("outcome")
        )
        callbacksDropped = registry.counter(
            .counter(
                "starwatch_callback_events_dropped_total",
                "Callback events dropped because they were too old or too many."
            )
        )
        callbacksWaiting = registry.gauge(
            .gauge("starwatch_callback_events_waiting", "Callback events waiting to be sent.")
        )
    }
}
