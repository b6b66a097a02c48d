package import StarwatchCore
package import StarwatchTelemetry

/// The outbox, from the stored change to the watermark.
package struct OutboxMetrics: Sendable {
    package let rows: MetricVector1<GaugedOutboxState, Gauge>
    package let capacity: Gauge
    package let backpressure: Gauge
    package let changes: MetricVector1<OutboxChange, Counter>
    package let oldestDue: Gauge
    package let oldestPending: Gauge
    package let oldestDead: Gauge
    package let imbalance: MetricVector1<LedgerLaw, Gauge>
    package let notifications: MetricVector2<ConfiguredName, NotificationGroup, Counter>
    package let deliveryAttempts: MetricVector2<ConfiguredName, SinkAttemptResult, Counter>
    package let sinkDisabled: MetricVector1<ConfiguredName, Gauge>
    package let deliveryDuration: MetricVector1<ConfiguredName, Histogram>
    package let freshness: MetricVector1<ConfiguredName, Histogram>
    package let acknowledgements: MetricVector1<AcknowledgementResult, Counter>
    package let watermark: MetricVector1<ConfiguredName, Gauge>
    package let fetchCursor: MetricVector1<ConfiguredName, Gauge>
    package let watermarkAdvances: MetricVector1<ConfiguredName, Counter>
    package let watermarkConflicts: MetricVector1<ConfiguredName, Counter>

    init(registry: MetricRegistry, polls: ConfiguredNames, sinks: ConfiguredNames) {
        let poll = LabelDimension<ConfiguredName>("poll", of: polls)
        let sink = LabelDimension<ConfiguredName>("sink", of: sinks)
        rows = registry.gauges(
            .gauge("starwatch_outbox_rows", unit: .rows, "Rows of the outbox by state, counted at the scrape."),
            by: LabelDimension("state")
        )
        capacity = registry.gauge(
            .gauge("starwatch_outbox_capacity_rows", unit: .rows, "The most rows that may be pending or claimed.")
        )
        backpressure = registry.gauge(
            .gauge("starwatch_outbox_backpressure_active", "Whether polling pauses because the outbox is full.")
        )
        changes = registry.counters(
            .counter("starwatch_outbox_changes_total", "What happened to rows of the outbox."),
            by: LabelDimension("change")
        )
        oldestDue = registry.gauge(
            .gauge(
                "starwatch_outbox_oldest_due_timestamp_seconds",
                unit: .seconds,
                "Since when the oldest row that could be delivered now has been due; 0 if there is none."
            )
        )
        oldestPending = registry.gauge(
            .gauge(
                "starwatch_outbox_oldest_pending_timestamp_seconds",
                unit: .seconds,
                "When the oldest undelivered row was stored; 0 if there is none."
            )
        )
        oldestDead = registry.gauge(
            .gauge(
                "starwatch_outbox_oldest_dead_timestamp_seconds",
                unit: .seconds,
                "When the oldest dead row died; 0 if there is none."
            )
        )
        imbalance = registry.gauges(
            .gauge(
                "starwatch_ledger_imbalance_rows",
                unit: .rows,
                "What the books are out of balance by; must be 0."
            ),
            by: LabelDimension("law")
        )
        notifications = registry.counters(
            .counter("starwatch_notifications_total", "Notifications that were made, by size."),
            by: poll,
            LabelDimension("group")
        )
        deliveryAttempts = registry.counters(
            .counter("starwatch_delivery_attempts_total", "Attempts to hand a notification to a sink."),
            by: sink,
            LabelDimension("result")
        )
        sinkDisabled = registry.gauges(
            .gauge("starwatch_sink_disabled", "Whether a sink said that it is gone and gets nothing until a reload."),
            by: sink
        )
        deliveryDuration = registry.histograms(
            .histogram("starwatch_delivery_seconds", "Duration of attempts to hand a notification to a sink."),
            bounds: Buckets.delivery,
            by: sink
        )
        freshness = registry.histograms(
            .histogram(
                "starwatch_freshness_seconds",
                "From the server's time of a change to its delivery, corrected for skew.",
                carriesExemplars: true
            ),
            bounds: Buckets.freshness,
            by: poll
        )
        acknowledgements = registry.counters(
            .counter("starwatch_acknowledgements_total", "Acknowledged changes, by how."),
            by: LabelDimension("result")
        )
        watermark = registry.gauges(
            .gauge(
                "starwatch_watermark_timestamp_seconds",
                unit: .seconds,
                "The server's time of the watermark; 0 if there is none."
            ),
            by: poll
        )
        fetchCursor = registry.gauges(
            .gauge(
                "starwatch_fetch_cursor_timestamp_seconds",
                unit: .seconds,
                "The server's time up to which all changes were fetched; 0 if none were."
            ),
            by: poll
        )
        watermarkAdvances = registry.counters(
            .counter("starwatch_watermark_advances_total", "Moves of the watermark."),
            by: poll
        )
        watermarkConflicts = registry.counters(
            .counter("starwatch_watermark_conflicts_total", "Moves of the watermark that lost to another one."),
            by: poll
        )
    }
}
