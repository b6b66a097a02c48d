package import StarwatchCore
package import StarwatchTelemetry

/// Metrics of the outbox, from the stored change to the watermark.
package struct OutboxMetrics: Sendable {
    package let rows = MetricRegistry.current.gauges(
        .gauge("starwatch_outbox_rows", unit: .rows, "Outbox rows by state, counted at each scrape."),
        by: LabelDimension<GaugedOutboxState>("state")
    )
    package let capacity = MetricRegistry.current.gauge(
        .gauge("starwatch_outbox_capacity_rows", unit: .rows, "Maximum number of pending and claimed rows.")
    )
    package let backpressure = MetricRegistry.current.gauge(
        .gauge("starwatch_outbox_backpressure_active", "Whether polling is paused because the outbox is full: 1 or 0.")
    )
    package let changes = MetricRegistry.current.counters(
        .counter("starwatch_outbox_changes_total", "Changes to outbox rows, by kind of change."),
        by: LabelDimension<OutboxChange>("change")
    )
    package let oldestDue = MetricRegistry.current.gauge(
        .gauge(
            "starwatch_outbox_oldest_due_timestamp_seconds",
            unit: .seconds,
            "Time since which the oldest deliverable row is due, also while its sink is down; 0 if there is none."
        )
    )
    package let oldestPending = MetricRegistry.current.gauge(
        .gauge(
            "starwatch_outbox_oldest_pending_timestamp_seconds",
            unit: .seconds,
            "Storage time of the oldest undelivered row; 0 if there is none."
        )
    )
    package let oldestDead = MetricRegistry.current.gauge(
        .gauge(
            "starwatch_outbox_oldest_dead_timestamp_seconds",
            unit: .seconds,
            "Time at which the oldest dead letter became one; 0 if there is none."
        )
    )
    package let quarantined = MetricRegistry.current.gauge(
        .gauge(
            "starwatch_quarantined_rows",
            unit: .rows,
            "Invalid items of the server that were rejected alone, until they are discarded."
        )
    )
    package let imbalance = MetricRegistry.current.gauges(
        .gauge("starwatch_ledger_imbalance_rows", unit: .rows, "Difference between the outbox counters; must be 0."),
        by: LabelDimension<LedgerLaw>("law")
    )
    /// Totals of the database's table, so they survive a restart and a crash.
    package let ledger = MetricRegistry.current.counters(
        .counter(
            "starwatch_ledger_entries_total",
            "Entries of the ledger since the database began, read from it at each scrape."
        ),
        by: LabelDimension<LedgerEntry>("entry")
    )
    package let notifications = MetricRegistry.current.counters(
        .counter(
            "starwatch_notifications_total",
            "Notifications created, by size. One that joins those of several polls counts under the last one's poll."
        ),
        by: .poll,
        LabelDimension<NotificationGroup>("group")
    )
    package let deliveryAttempts = MetricRegistry.current.counters(
        .counter("starwatch_delivery_attempts_total", "Delivery attempts and notifications given up, by result."),
        by: .sink,
        LabelDimension<SinkAttemptResult>("result")
    )
    package let deliveryFailures = MetricRegistry.current.counters(
        .counter("starwatch_delivery_failures_total", "Failed delivery attempts, by reason."),
        by: .sink,
        LabelDimension<FailureLabel>("reason", shown: CatalogueScope.current.features.failures),
        where: { CatalogueScope.current.features.canFail($0.text, for: $1) }
    )
    package let sinkDisabled = MetricRegistry.current.gauges(
        .gauge("starwatch_sink_disabled", "Whether a sink returned 410 Gone and is disabled until a reload: 1 or 0."),
        by: .sink
    )
    package let sinkBacklog = MetricRegistry.current.gauges(
        .gauge("starwatch_sink_backlog_rows", unit: .rows, "Changes of open notifications that wait for a sink."),
        by: .sink
    )
    package let sinkHeld = MetricRegistry.current.gauges(
        .gauge(
            "starwatch_sink_held_rows",
            unit: .rows,
            "Changes that the quiet_hours or deliver_at of a required sink hold, among those that wait for it."
        ),
        by: LabelDimension<ConfiguredName>(
            "sink",
            of: CatalogueScope.current.sinks,
            isShown: CatalogueScope.current.features.hasSinkHours
        )
    )
    package let sinkLastSuccess = MetricRegistry.current.gauges(
        .gauge(
            "starwatch_sink_last_success_timestamp_seconds",
            unit: .seconds,
            "Time at which a sink last accepted a notification; 0 if it has not since the start."
        ),
        by: .sink
    )
    package let deliveryDuration = MetricRegistry.current.histograms(
        .histogram("starwatch_delivery_seconds", "Duration of delivery attempts."),
        bounds: Buckets.delivery,
        by: .sink
    )
    package let freshness = MetricRegistry.current.histograms(
        .histogram(
            "starwatch_freshness_seconds",
            "Time from a change on the server to its delivery, corrected for clock skew.",
            carriesExemplars: true
        ),
        bounds: Buckets.freshness,
        by: .poll
    )
    package let acknowledgements = MetricRegistry.current.counters(
        .counter("starwatch_acknowledgements_total", "Acknowledged changes, by result."),
        by: LabelDimension<AcknowledgementResult>("result")
    )
    package let watermark = MetricRegistry.current.gauges(
        .gauge(
            "starwatch_watermark_timestamp_seconds",
            unit: .seconds,
            "Server time of the watermark; 0 if there is none."
        ),
        by: .poll
    )
    package let fetchCursor = MetricRegistry.current.gauges(
        .gauge(
            "starwatch_fetch_cursor_timestamp_seconds",
            unit: .seconds,
            "Server time up to which all changes were fetched; 0 if none were."
        ),
        by: .poll
    )
    package let watermarkAdvances = MetricRegistry.current.counters(
        .counter("starwatch_watermark_advances_total", "Advances of the watermark."),
        by: .poll
    )
    package let watermarkConflicts = MetricRegistry.current.counters(
        .counter("starwatch_watermark_conflicts_total", "Watermark moves dropped because of a concurrent move."),
        by: .poll
    )

    /// Shows the totals that the database keeps.
    func publish(totals: Ledger) {
        for entry in LedgerEntry.allCases { ledger[entry].raise(to: UInt64(max(0, entry.count(in: totals)))) }
    }
}
