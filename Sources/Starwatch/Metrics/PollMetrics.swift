package import StarwatchCore
package import StarwatchTelemetry
import Synchronization

/// Metrics of polls and their schedules.
package final class PollMetrics: Sendable {
    private let silences = Mutex<[(poll: String, ratio: Double)]>([])

    init() {
        let polls = CatalogueScope.current.polls.all.map(\.text)
        page.table(
            .init(
                .gauge,
                "starwatch_poll_silence_ratio",
                "Time without changes of a poll, as a multiple of its longest gap; only where enough changes are known.",
                stability: .detail
            ),
            labels: [CatalogueLabel(name: "poll", values: polls)],
            largest: polls.count
        ) { [weak self] in
            (self?.silences.withLock { $0 } ?? []).map { (labels: [("poll", $0.poll)], value: $0.ratio) }
        }
    }

    /// Shows the silences of polls from now on.
    func show(_ silences: [PollName: ChangeRhythm.Silence]) {
        let ratios = silences.map { (poll: $0.key.rawValue, ratio: $0.value.ratio) }.sorted { $0.poll < $1.poll }
        self.silences.withLock { $0 = ratios }
    }

    /// Shows the times of a poll's last cycles.
    func show(_ last: CycleTimes, of poll: ConfiguredName) {
        lastAttempt[poll].set(last.attempted?.seconds ?? 0)
        lastSuccess[poll].set(last.succeeded?.seconds ?? 0)
    }

    package let attempts = page.counters("starwatch_poll_attempts_total", "Cycles that reached the API.").by(.poll)
    package let successes = page.counters(
        "starwatch_poll_success_total",
        "Cycles that fetched every change, or as many as the outbox had room for."
    ).by(.poll)
    package let failures = page.counters(
        "starwatch_poll_failure_total",
        "Cycles that reached the API and failed.",
        carriesExemplars: true
    ).by(.poll)
    package let failureReasons = page.counters(
        "starwatch_poll_failure_reasons_total",
        "Cycles that reached the API and failed, by reason."
    ).by(
        .poll,
        LabelDimension<FailureLabel>("reason", shown: CatalogueScope.current.features.failures),
        where: { $1.isOfPolls }
    )
    package let outcomes = page.counters("starwatch_poll_outcomes_total", "Cycles that reached the API, by outcome.")
        .by(.poll, LabelDimension<PollOutcome>("outcome"))
    package let skipped = page.counters("starwatch_poll_skipped_total", "Cycles that were skipped, by reason.")
        .by(
            .poll,
            LabelDimension<SkipReason>("reason"),
            where: { $1 != .endpointMissing || CatalogueScope.current.features.hasOptionalEndpoints }
        )
    package let duration = page.histograms(
        "starwatch_poll_duration_seconds",
        "Duration of cycles that reached the API, including failed ones.",
        carriesExemplars: true,
        bounds: Buckets.cycle
    ).by(.poll)
    package let inFlight = page.gauges("starwatch_poll_in_flight", "Whether a cycle is running: 1 or 0.").by(.poll)
    package let lastAttempt = page.gauges(
        "starwatch_poll_last_attempt_timestamp_seconds",
        "Time at which a cycle last reached the API; 0 if never."
    ).by(.poll)
    package let lastSuccess = page.gauges(
        "starwatch_poll_last_success_timestamp_seconds",
        "Time at which a cycle last succeeded; 0 if never."
    ).by(.poll)
    package let nextRun = page.gauges("starwatch_poll_next_run_timestamp_seconds", "Time of the next scheduled run.")
        .by(.poll)
    package let interval = page.gauges("starwatch_poll_interval_seconds", "Longest gap between two scheduled runs.")
        .by(.poll)
    package let staleAfter = page.gauges(
        "starwatch_poll_stale_after_seconds",
        "Age of the last success at which data becomes stale."
    ).by(.poll)
    package let scheduleRuns = page.counters("starwatch_schedule_runs_total", "Scheduled runs, by punctuality.")
        .by(.poll, LabelDimension<ScheduleOutcome>("outcome"))
    package let progressAge = page.gauge(
        "starwatch_scheduler_progress_age_seconds",
        "Time since the schedules last made progress, by the monotonic clock: that of the poll that waits longest."
    )
    package let scheduleDelay = page.histograms(
        "starwatch_schedule_delay_seconds",
        "Delay between scheduled and actual start of a run.",
        bounds: Buckets.lateness
    ).by(.poll)
    package let pages = page.counters("starwatch_poll_pages_total", "Pages that were fetched and validated.").by(.poll)
    package let changesFound = page.counters(
        "starwatch_poll_changes_found_total",
        "Changes that were new to the outbox."
    ).by(.poll)
    package let superseded = page.counters(
        "starwatch_poll_superseded_total",
        "Changes that a later one replaced before the poll saw them, where the server tells.",
        stability: .detail
    ).by(
        LabelDimension<ConfiguredName>(
            "poll",
            of: CatalogueScope.current.polls,
            isShown: CatalogueScope.current.features.namesReplacedClaims
        )
    )
    package let plansLeftOut = page.counters(
        "starwatch_poll_plans_left_out_total",
        "Cycles that left out projects of the account, because it has more than limits.max_own_plans.",
        stability: .detail
    ).by(
        LabelDimension<ConfiguredName>(
            "poll",
            of: CatalogueScope.current.polls,
            isShown: CatalogueScope.current.features.namesOwnPlans
        )
    )
    package let violations = page.counters(
        "starwatch_contract_violations_total",
        "Responses that violated the server's contract, by kind."
    ).by(.poll, LabelDimension<ContractViolation>("kind"))
}
