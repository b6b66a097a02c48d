package import StarwatchCore
package import StarwatchTelemetry

/// Metrics of polls and their schedules.
package struct PollMetrics: Sendable {
    package let attempts: MetricVector1<ConfiguredName, Counter>
    package let successes: MetricVector1<ConfiguredName, Counter>
    package let failures: MetricVector1<ConfiguredName, Counter>
    package let failureReasons: MetricVector2<ConfiguredName, FailureLabel, Counter>
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
    package let superseded: MetricVector1<ConfiguredName, Counter>
    package let violations: MetricVector2<ConfiguredName, ContractViolation, Counter>

    init(registry: MetricRegistry, polls: ConfiguredNames, features: MetricFeatures) {
        let poll = LabelDimension<ConfiguredName>("poll", of: polls)
        attempts = registry.counters(
            .counter("starwatch_poll_attempts_total", "Cycles that reached the API."),
            by: poll
        )
        successes = registry.counters(
            .counter(
                "starwatch_poll_success_total",
                "Cycles that fetched every change, or as many as the outbox had room for."
            ),
            by: poll
        )
        failures = registry.counters(
            .counter("starwatch_poll_failure_total", "Cycles that reached the API and failed.", carriesExemplars: true),
            by: poll
        )
        failureReasons = registry.counters(
            .counter("starwatch_poll_failure_reasons_total", "Cycles that reached the API and failed, by reason."),
            by: poll,
            LabelDimension("reason"),
            where: { $1 != .local }
        )
        outcomes = registry.counters(
            .counter("starwatch_poll_outcomes_total", "Cycles that reached the API, by outcome."),
            by: poll,
            LabelDimension("outcome")
        )
        skipped = registry.counters(
            .counter("starwatch_poll_skipped_total", "Cycles that were skipped, by reason."),
            by: poll,
            LabelDimension("reason")
        )
        duration = registry.histograms(
            .histogram(
                "starwatch_poll_duration_seconds",
                "Duration of cycles that reached the API, including failed ones.",
                carriesExemplars: true
            ),
            bounds: Buckets.cycle,
            by: poll
        )
        inFlight = registry.gauges(.gauge("starwatch_poll_in_flight", "Whether a cycle is running: 1 or 0."), by: poll)
        lastAttempt = registry.gauges(
            .gauge(
                "starwatch_poll_last_attempt_timestamp_seconds",
                unit: .seconds,
                "Time at which a cycle last reached the API; 0 if never."
            ),
            by: poll
        )
        lastSuccess = registry.gauges(
            .gauge(
                "starwatch_poll_last_success_timestamp_seconds",
                unit: .seconds,
                "Time at which a cycle last succeeded; 0 if never."
            ),
            by: poll
        )
        nextRun = registry.gauges(
            .gauge("starwatch_poll_next_run_timestamp_seconds", unit: .seconds, "Time of the next scheduled run."),
            by: poll
        )
        interval = registry.gauges(
            .gauge("starwatch_poll_interval_seconds", unit: .seconds, "Longest gap between two scheduled runs."),
            by: poll
        )
        staleAfter = registry.gauges(
            .gauge(
                "starwatch_poll_stale_after_seconds",
                unit: .seconds,
                "Age of the last success at which data becomes stale."
            ),
            by: poll
        )
        scheduleRuns = registry.counters(
            .counter("starwatch_schedule_runs_total", "Scheduled runs, by punctuality."),
            by: poll,
            LabelDimension("outcome")
        )
        scheduleDelay = registry.histograms(
            .histogram("starwatch_schedule_delay_seconds", "Delay between scheduled and actual start of a run."),
            bounds: Buckets.lateness,
            by: poll
        )
        pages = registry.counters(
            .counter("starwatch_poll_pages_total", "Pages that were fetched and validated."),
            by: poll
        )
        changesFound = registry.counters(
            .counter("starwatch_poll_changes_found_total", "Changes that were new to the outbox."),
            by: poll
        )
        superseded = registry.counters(
            .counter(
                "starwatch_poll_superseded_total",
                "Changes that a later one replaced before the poll saw them, where the server tells.",
                stability: .detail
            ),
            by: LabelDimension("poll", of: polls, isShown: features.namesReplacedClaims)
        )
        violations = registry.counters(
            .counter("starwatch_contract_violations_total", "Responses that violated the server's contract, by kind."),
            by: poll,
            LabelDimension("kind")
        )
    }
}
