package import StarwatchCore
package import StarwatchTelemetry

/// Polls and their schedule.
package struct PollMetrics: Sendable {
    package let attempts: MetricVector1<ConfiguredName, Counter>
    package let successes: MetricVector1<ConfiguredName, Counter>
    package let failures: MetricVector1<ConfiguredName, Counter>
    package let outcomes: MetricVector2<ConfiguredName, PollOutcome, Counter>
    package let skipped: MetricVector2<ConfiguredName, SkipReason, Counter>
    package let duration: MetricVector1<ConfiguredName, Histogram>
    package let inFlight: MetricVector1<ConfiguredName, Gauge>
    package let lastAttempt: MetricVector1<ConfiguredName, Gauge>
    package let lastSuccess: MetricVector1<ConfiguredName, Gauge>
    package let nextRun: MetricVector1<ConfiguredName, Gauge>
    package let interval: MetricVector1<ConfiguredName, Gauge>
    package let staleAfter: MetricVector1<ConfiguredName, Gauge>
    package let scheduleRuns: MetricVector2<ConfiguredName, ScheduleOutcome, Counter>
    package let scheduleDelay: MetricVector1<ConfiguredName, Histogram>
    package let pages: MetricVector1<ConfiguredName, Counter>
    package let changesFound: MetricVector1<ConfiguredName, Counter>
    package let violations: MetricVector2<ConfiguredName, ContractViolation, Counter>

    init(registry: MetricRegistry, polls: ConfiguredNames) {
        let poll = LabelDimension<ConfiguredName>("poll", of: polls)
        attempts = registry.counters(
            .counter("starwatch_poll_attempts_total", "Cycles that reached the API."),
            by: poll
        )
        successes = registry.counters(
            .counter("starwatch_poll_success_total", "Cycles that fetched all there was, or all there was room for."),
            by: poll
        )
        failures = registry.counters(
            .counter("starwatch_poll_failure_total", "Cycles that reached the API and failed.", carriesExemplars: true),
            by: poll
        )
        outcomes = registry.counters(
            .counter("starwatch_poll_outcomes_total", "Cycles that reached the API, by how they ended."),
            by: poll,
            LabelDimension("outcome")
        )
        skipped = registry.counters(
            .counter("starwatch_poll_skipped_total", "Cycles that were not tried, by reason."),
            by: poll,
            LabelDimension("reason")
        )
        duration = registry.histograms(
            .histogram(
                "starwatch_poll_duration_seconds",
                "Duration of cycles that reached the API, failed ones too.",
                carriesExemplars: true
            ),
            bounds: Buckets.cycle,
            by: poll
        )
        inFlight = registry.gauges(.gauge("starwatch_poll_in_flight", "Whether a cycle is under way."), by: poll)
        lastAttempt = registry.gauges(
            .gauge(
                "starwatch_poll_last_attempt_timestamp_seconds",
                unit: .seconds,
                "When a cycle last reached the API; 0 if never."
            ),
            by: poll
        )
        lastSuccess = registry.gauges(
            .gauge(
                "starwatch_poll_last_success_timestamp_seconds",
                unit: .seconds,
                "When a cycle last succeeded; 0 if never."
            ),
            by: poll
        )
        nextRun = registry.gauges(
            .gauge("starwatch_poll_next_run_timestamp_seconds", unit: .seconds, "When the schedule fires next."),
            by: poll
        )
        interval = registry.gauges(
            .gauge("starwatch_poll_interval_seconds", unit: .seconds, "The longest gap of the schedule."),
            by: poll
        )
        staleAfter = registry.gauges(
            .gauge(
                "starwatch_poll_stale_after_seconds",
                unit: .seconds,
                "The age of the last success from which data counts as stale."
            ),
            by: poll
        )
        scheduleRuns = registry.counters(
            .counter("starwatch_schedule_runs_total", "Scheduled runs, by how they kept their time."),
            by: poll,
            LabelDimension("outcome")
        )
        scheduleDelay = registry.histograms(
            .histogram("starwatch_schedule_delay_seconds", "How late scheduled runs began."),
            bounds: Buckets.lateness,
            by: poll
        )
        pages = registry.counters(
            .counter("starwatch_poll_pages_total", "Pages that were read and found good."),
            by: poll
        )
        changesFound = registry.counters(
            .counter("starwatch_poll_changes_found_total", "Changes that were new to the outbox."),
            by: poll
        )
        violations = registry.counters(
            .counter("starwatch_contract_violations_total", "Answers that broke the server's contract, by kind."),
            by: poll,
            LabelDimension("kind")
        )
    }
}
