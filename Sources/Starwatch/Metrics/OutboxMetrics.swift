package import StarwatchCore
package import StarwatchTelemetry

/// Metrics of the outbox, from the stored change to the watermark.
package struct OutboxMetrics: Sendable {
    package let rows = page.gauges("starwatch_outbox_rows", "Outbox rows by state, counted at each scrape.")
        .by(LabelDimension<OutboxState>("state", shown: [.pending, .claimed, .delivered, .dead]))
    package let capacity = page.gauge("starwatch_outbox_capacity_rows", "Maximum number of pending and claimed rows.")
    package let backpressure = page.gauge(
        "starwatch_outbox_backpressure_active",
        "Whether polling is paused because the outbox is full: 1 or 0."
    )
    package let changes = page.counters("starwatch_outbox_changes_total", "Changes to outbox rows, by kind of change.")
        .by(LabelDimension<OutboxChange>("change"))
    package let oldestDue = page.gauge(
        "starwatch_outbox_oldest_due_timestamp_seconds",
        "Time since which the oldest deliverable row is due, also while its sink is down; 0 if there is none."
    )
    package let oldestPending = page.gauge(
        "starwatch_outbox_oldest_pending_timestamp_seconds",
        "Storage time of the oldest undelivered row; 0 if there is none."
    )
    package let oldestDead = page.gauge(
        "starwatch_outbox_oldest_dead_timestamp_seconds",
        "Time at which the oldest dead letter became one; 0 if there is none."
    )
    package let quarantined = page.gauge(
        "starwatch_quarantined_rows",
        "Invalid items of the server that were rejected alone, until they are discarded."
    )
    package let imbalance = page.gauges(
        "starwatch_ledger_imbalance_rows",
        "Difference between the outbox counters; must be 0."
    ).by(LabelDimension<LedgerLaw>("law"))
    /// Totals of the database's table, so they survive a restart and a crash.
    package let ledger = page.counters(
        "starwatch_ledger_entries_total",
        "Entries of the ledger since the database began, read from it at each scrape."
    ).by(LabelDimension<LedgerEntry>("entry"))
    package let notifications = page.counters(
        "starwatch_notifications_total",
        "Notifications created, by size. One that joins those of several polls counts under the last one's poll."
    ).by(.poll, LabelDimension<NotificationGroup>("group"))
    package let deliveryAttempts = page.counters(
        "starwatch_delivery_attempts_total",
        "Delivery attempts and notifications given up, by result."
    ).by(.sink, LabelDimension<SinkAttemptResult>("result"))
    package let deliveryFailures = page.counters(
        "starwatch_delivery_failures_total",
        "Failed delivery attempts, by reason."
    ).by(
        .sink,
        LabelDimension<FailureLabel>("reason", shown: CatalogueScope.current.features.failures),
        where: { CatalogueScope.current.features.canFail($0.text, for: $1) }
    )
    package let sinkDisabled = page.gauges(
        "starwatch_sink_disabled",
        "Whether a sink returned 410 Gone and is disabled until a reload: 1 or 0."
    ).by(.sink)
    package let sinkBacklog = page.gauges(
        "starwatch_sink_backlog_rows",
        "Changes of open notifications that wait for a sink."
    ).by(.sink)
    package let sinkHeld = page.gauges(
        "starwatch_sink_held_rows",
        "Changes that the quiet_hours or deliver_at of a required sink hold, among those that wait for it."
    ).by(
        LabelDimension<ConfiguredName>(
            "sink",
            of: CatalogueScope.current.sinks,
            isShown: CatalogueScope.current.features.hasSinkHours
        )
    )
    package let sinkLastSuccess = page.gauges(
        "starwatch_sink_last_success_timestamp_seconds",
        "Time at which a sink last accepted a notification; 0 if it has not since the start."
    ).by(.sink)
    package let deliveryDuration = page.histograms(
        "starwatch_delivery_seconds",
        "Duration of delivery attempts.",
        bounds: Buckets.delivery
    ).by(.sink)
    package let freshness = page.histograms(
        "starwatch_freshness_seconds",
        "Time from a change on the server to its delivery, corrected for clock skew.",
        carriesExemplars: true,
        bounds: Buckets.freshness
    ).by(.poll)
    package let acknowledgements = page.counters("starwatch_acknowledgements_total", "Acknowledged changes, by result.")
        .by(LabelDimension<AcknowledgementResult>("result"))
    package let watermark = page.gauges(
        "starwatch_watermark_timestamp_seconds",
        "Server time of the watermark; 0 if there is none."
    ).by(.poll)
    package let fetchCursor = page.gauges(
        "starwatch_fetch_cursor_timestamp_seconds",
        "Server time up to which all changes were fetched; 0 if none were."
    ).by(.poll)
    package let watermarkAdvances = page.counters("starwatch_watermark_advances_total", "Advances of the watermark.")
        .by(.poll)
    package let watermarkConflicts = page.counters(
        "starwatch_watermark_conflicts_total",
        "Watermark moves dropped because of a concurrent move."
    ).by(.poll)

    /// Shows the totals that the database keeps.
    func publish(totals: Ledger) {
        for entry in LedgerEntry.allCases { ledger[entry].raise(to: UInt64(max(0, entry.count(in: totals)))) }
    }
}
