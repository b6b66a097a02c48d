package import StarwatchCore
package import StarwatchTelemetry

extension SlotStatus: MetricLabel {}
extension CallbackKind: MetricLabel {}

/// What became of an event for a callback.
package enum CallbackOutcome: String, MetricLabel {
    case queued, sent
    /// Its receiver refused it; it is told again.
    case refused
    /// Its receiver could not be reached; it is told again.
    case unavailable
}

/// Digests, and the callbacks that are told of them.
package struct DigestMetrics: Sendable {
    package let prefetches: MetricVector1<DigestPrefetchOutcome, Counter>
    package let deliveries: MetricVector1<SlotStatus, Counter>
    package let lateness: Histogram
    package let callbacks: MetricVector2<CallbackKind, CallbackOutcome, Counter>
    package let callbacksDropped: Counter
    package let callbacksWaiting: Gauge

    init(registry: MetricRegistry) {
        prefetches = registry.counters(
            .counter("starwatch_digest_prefetches_total", "Fetches of digests' content, by how they ended."),
            by: LabelDimension("outcome")
        )
        deliveries = registry.counters(
            .counter(
                "starwatch_digest_deliveries_total",
                "Occurrences of digests: planned, shown, and not shown, by why not."
            ),
            by: LabelDimension("status")
        )
        lateness = registry.histogram(
            .histogram("starwatch_digest_lateness_seconds", "How late digests were handed to the sinks."),
            bounds: Buckets.lateness
        )
        callbacks = registry.counters(
            .counter("starwatch_callback_events_total", "Events for callbacks, and every try to tell them."),
            by: LabelDimension("kind"),
            LabelDimension("outcome")
        )
        callbacksDropped = registry.counter(
            .counter(
                "starwatch_callback_events_dropped_total",
                "Events that no callback was told, because they were too old or too many."
            )
        )
        callbacksWaiting = registry.gauge(
            .gauge("starwatch_callback_events_waiting", "Events that callbacks are still to be told.")
        )
    }
}
