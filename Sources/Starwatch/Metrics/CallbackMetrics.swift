package import StarwatchCore
package import StarwatchTelemetry

extension CallbackKind: MetricLabel {}

/// Result of queueing or sending a callback event.
package enum CallbackOutcome: String, MetricLabel {
    case queued, sent
    /// The receiver rejected the event, and the agent retries it.
    case refused
    /// The receiver was unreachable, and the agent retries the event.
    case unavailable
}

/// Metrics of callback events.
package struct CallbackMetrics: Sendable {
    package let events: MetricVector2<CallbackKind, CallbackOutcome, Counter>
    package let dropped: Counter
    package let waiting: Gauge

    init(registry: MetricRegistry) {
        events = registry.counters(
            .counter("starwatch_callback_events_total", "Callback events queued, and attempts to send them."),
            by: LabelDimension("kind"),
            LabelDimension("outcome")
        )
        dropped = registry.counter(
            .counter(
                "starwatch_callback_events_dropped_total",
                "Callback events dropped because they were too old or too many."
            )
        )
        waiting = registry.gauge(.gauge("starwatch_callback_events_waiting", "Callback events waiting to be sent."))
    }
}
