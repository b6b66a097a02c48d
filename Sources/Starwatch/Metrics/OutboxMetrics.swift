package import StarwatchCore
package import StarwatchTelemetry

/// Metrics of the outbox, from the stored change to the watermark.
package struct OutboxMetrics: Sendable {
    package let rows: MetricVector1<GaugedOutboxState, Gauge>
    package let capacity: Gauge
    package let backpressure: Gauge
    package let changes: MetricVector1<OutboxChange, Counter>
    package let oldestDue: Gauge
    package let oldestPending: Gauge
    package let oldestDead: Gauge
    package let quarantined: Gauge
    package let imbalance: MetricVector1<LedgerLaw, Gauge>
    /// Totals of the database's table, so they survive a restart and a crash.
    package let ledger: MetricVector1<LedgerEntry, Counter>
    package let notifications: MetricVector2<ConfiguredName, NotificationGroup, Counter>
    package let deliveryAttempts: MetricVector2<ConfiguredName, SinkAttemptResult, Counter>
    package let deliveryFailures: MetricVector2<ConfiguredName, FailureLabel, Counter>
    package let sinkDisabled: MetricVector1<ConfiguredName, Gauge>
    package let deliveryDuration: MetricVector1<ConfiguredName, Histogram>
    package let freshness: MetricVector1<ConfiguredName, Histogram>
    package let acknowledgements: MetricVector1<AcknowledgementResult, Counter>
    package let watermark: MetricVector1<ConfiguredName, Gauge>
    package let fetchCursor: MetricVector1<ConfiguredName, Gauge>
    package let watermarkAdvances: MetricVector1<ConfiguredName, Counter>
    package let watermarkConflicts: MetricVector1<ConfiguredName, Counter>

    /// - Parameter local: Names of the sinks that send no requests.
    init(registry: MetricRegistry, polls: ConfiguredNames, sinks: ConfiguredNames, local: Set<String>) {
        let poll = LabelDimension<ConfiguredName>("poll", of: polls)
        let sink = LabelDimension<ConfiguredName>("sink", of: sinks)
        rows = registry.gauges(
            .gauge("starwatch_outbox_rows", unit: .rows, "Outbox rows by state, counted at each scrape."),
            by: LabelDimension("state")
        )
        capacity = registry.gauge(
            .gauge("starwatch_outbox_capacity_rows", unit: .rows, "Maximum number of pending and claimed rows.")
        )
        backpressure = registry.gauge(
            .gauge(
                "starwatch_outbox_backpressure_active",
                "Whether polling is paused because the outbox is full: 1 or 0."
            )
        )
        changes = registry.counters(
            .counter("starwatch_outbox_changes_total", "Changes to outbox rows, by kind of change."),
            by: LabelDimension("change")
        )
        oldestDue = registry.gauge(
            .gauge(
                "starwatch_outbox_oldest_due_timestamp_seconds",
                unit: .seconds,
                "Time since which the oldest deliverable row is due, also while its sink is down; 0 if there is none."
            )
        )
        oldestPending = registry.gauge(
            .gauge(
                "starwatch_outbox_oldest_pending_timestamp_seconds",
                unit: .seconds,
                "Storage time of the oldest undelivered row; 0 if there is none."
            )
        )
        oldestDead = registry.gauge(
            .gauge(
                "starwatch_outbox_oldest_dead_timestamp_seconds",
                unit: .seconds,
                "Time at which the oldest dead letter became one; 0 if there is none."
            )
        )
        quarantined = registry.gauge(
            .gauge(
                "starwatch_quarantined_rows",
                unit: .rows,
                "Invalid items of the server that were rejected alone, until they are discarded."
            )
        )
        imbalance = registry.gauges(
            .gauge(
                "starwatch_ledger_imbalance_rows",
                unit: .rows,
                "Difference between the outbox counters; must be 0."
            ),
            by: LabelDimension("law")
        )
        ledger = registry.counters(
            .counter(
                "starwatch_ledger_entries_total",
                "Entries of the ledger since the database began, read from it at each scrape."
            ),
            by: LabelDimension("entry")
        )
        notifications = registry.counters(
            .counter("starwatch_notifications_total", "Notifications created, by size."),
            by: poll,
            LabelDimension("group")
        )
        deliveryAttempts = registry.counters(
            .counter("starwatch_delivery_attempts_total", "Delivery attempts and notifications given up, by result."),
            by: sink,
            LabelDimension("result")
        )
        deliveryFailures = registry.counters(
            .counter("starwatch_delivery_failures_total", "Failed delivery attempts, by reason."),
            by: sink,
            LabelDimension("reason"),
            where: { $1.isLocal || !local.contains($0.text) }
        )
        sinkDisabled = registry.gauges(
            .gauge(
                "starwatch_sink_disabled",
                "Whether a sink returned 410 Gone and is disabled until a reload: 1 or 0."
            ),
            by: sink
        )
        deliveryDuration = registry.histograms(
            .histogram("starwatch_delivery_seconds", "Duration of delivery attempts."),
            bounds: Buckets.delivery,
            by: sink
        )
        freshness = registry.histograms(
            .histogram(
                "starwatch_freshness_seconds",
                "Time from a change on the server to its delivery, corrected for clock skew.",
                carriesExemplars: true
            ),
            bounds: Buckets.freshness,
            by: poll
        )
        acknowledgements = registry.counters(
            .counter("starwatch_acknowledgements_total", "Acknowledged changes, by result."),
            by: LabelDimension("result")
        )
        watermark = registry.gauges(
            .gauge(
                "starwatch_watermark_timestamp_seconds",
                unit: .seconds,
                "Server time of the watermark; 0 if there is none."
            ),
            by: poll
        )
        fetchCursor = registry.gauges(
            .gauge(
                "starwatch_fetch_cursor_timestamp_seconds",
                unit: .seconds,
                "Server time up to which all changes were fetched; 0 if none were."
            ),
            by: poll
        )
        watermarkAdvances = registry.counters(
            .counter("starwatch_watermark_advances_total", "Advances of the watermark."),
            by: poll
        )
        watermarkConflicts = registry.counters(
            .counter("starwatch_watermark_conflicts_total", "Watermark moves dropped because of a concurrent move."),
            by: poll
        )
    }

    /// Shows the totals that the database keeps.
    func publish(totals: Ledger) {
        for entry in LedgerEntry.allCases { ledger[entry].raise(to: UInt64(max(0, entry.count(in: totals)))) }
    }
}
