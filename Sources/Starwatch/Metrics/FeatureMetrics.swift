package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
package import StarwatchTelemetry

// Metrics of optional features; they are on the page only with their feature.

package struct DigestMetrics: Sendable {
    package let prefetches = page.counters(
        "starwatch_digest_prefetches_total",
        "Fetches of digest content, by outcome."
    ).by(LabelDimension<DigestPrefetchOutcome>("outcome"))
    package let deliveries = page.counters("starwatch_digest_deliveries_total", "Digest occurrences, by status.")
        .by(LabelDimension<SlotStatus>("status"))
    package let lateness = page.histogram(
        "starwatch_digest_lateness_seconds",
        "Delay between a digest's time and its delivery to the sinks.",
        bounds: Buckets.lateness
    )
}

/// Metrics of callback events.
package struct CallbackMetrics: Sendable {
    package let events = page.counters(
        "starwatch_callback_events_total",
        "Callback events queued, and attempts to send them."
    ).by(LabelDimension<CallbackKind>("kind"), LabelDimension<CallbackOutcome>("outcome"))
    package let dropped = page.counter(
        "starwatch_callback_events_dropped_total",
        "Callback events dropped because they were too old or too many."
    )
    package let waiting = page.gauge("starwatch_callback_events_waiting", "Callback events waiting to be sent.")
}

/// The steps of a synthetic change that are counted.
package enum CanaryStep: String, Sendable, CaseIterable, MetricLabel {
    /// It was stored.
    case sent
    /// Every sink that is marked for it has accepted it.
    case arrived
}

/// Metrics of synthetic changes.
package struct CanaryMetrics: Sendable {
    package let canaries = page.counters("starwatch_canaries_total", "Synthetic changes, by step.", stability: .detail)
        .by(LabelDimension<CanaryStep>("step"))
    package let interval = page.gauge(
        "starwatch_canary_interval_seconds",
        "Time between two synthetic changes.",
        stability: .detail
    )
    package let lastArrival = page.gauge(
        "starwatch_canary_last_arrival_timestamp_seconds",
        "Creation of the last synthetic change that has arrived at its sinks; 0 if none has.",
        stability: .detail
    )
}

/// The former end of a claimed lease.
package enum LeaseClaim: String, Sendable, CaseIterable, MetricLabel {
    /// It was released, or there was none.
    case released
    /// It was not released: its process was killed, or a visit lasted too long.
    case expired
}

extension AccountStatus: MetricLabel {}

/// Metrics of a process that serves many accounts. None has a label for the account.
package struct FleetMetrics: Sendable {
    package let accounts = page.gauges("starwatch_fleet_accounts", "Accounts, by state.", stability: .detail)
        .by(LabelDimension<AccountStatus>("state"))
    package let leases = page.gauge(
        "starwatch_fleet_leases",
        "Accounts that the process has claimed.",
        stability: .detail
    )
    package let claims = page.counters(
        "starwatch_fleet_lease_claims_total",
        "Accounts claimed, by how their last lease ended.",
        stability: .detail
    ).by(LabelDimension<LeaseClaim>("result"))
    package let lost = page.counter(
        "starwatch_fleet_leases_lost_total",
        "Leases that ended before the work did.",
        stability: .detail
    )
    package let due = page.gauge(
        "starwatch_fleet_due_accounts",
        "Accounts that are due and wait for their visit.",
        stability: .detail
    )
    package let stale = page.gauge(
        "starwatch_fleet_stale_accounts",
        "Accounts without a success for longer than the longest stale_after.",
        stability: .detail
    )
    package let unreachable = page.gauge(
        "starwatch_fleet_accounts_without_address",
        "Active accounts that no sink reaches, because every sink needs an address of them and has none.",
        stability: .detail
    )
    package let failing = page.gauges(
        "starwatch_fleet_failing_accounts",
        "Active accounts whose polls or acknowledgements fail, by the reason of the longest failure.",
        stability: .detail
    ).by(LabelDimension<FailureLabel>("reason", shown: Set(FailureLabel.allCases.filter(\.isOfPolls))))
    package let unreachableHosts = page.gauges(
        "starwatch_fleet_unreachable_hosts",
        "Hosts of the addresses of accounts, and their files and feeds, whose circuit is not closed.",
        stability: .detail
    ).by(.sink)
    package let oldestDue = page.gauge(
        "starwatch_fleet_oldest_due_timestamp_seconds",
        "Time since which the account that waits longest is due; 0 if none waits.",
        stability: .detail
    )
    package let lag = page.histogram(
        "starwatch_fleet_visit_delay_seconds",
        "Delay between the time an account is due and its visit.",
        stability: .detail,
        bounds: Buckets.lateness
    )
    package let visits = page.histogram(
        "starwatch_fleet_visit_seconds",
        "Duration of a visit: polls, delivery and acknowledgement.",
        stability: .detail,
        bounds: Buckets.visit
    )
    package let sharedRequests = page.counter(
        "starwatch_fleet_shared_requests_total",
        "Requests for many accounts together. Each attempt counts.",
        stability: .detail
    )
    package let sharedPolls = page.counter(
        "starwatch_fleet_shared_polls_total",
        "Polls of accounts that were answered from such requests.",
        stability: .detail
    )
    package let reachableInterval = page.gauge(
        "starwatch_fleet_reachable_interval_seconds",
        "Shortest time between two polls of an account that the limit of requests allows for all accounts.",
        stability: .detail
    )
}

extension HostPollOutcome: MetricLabel {}

/// Metrics of polls that a host application defines. They are details, because a standalone agent has none.
package struct HostPollMetrics: HostPollObserver {
    package let polls = page.counters(
        "starwatch_host_polls_total",
        "Polls defined by a host application, by outcome.",
        stability: .detail
    ).by(LabelDimension<HostPollOutcome>("outcome"))
    package let duration = page.histogram(
        "starwatch_host_poll_seconds",
        "Duration of polls defined by a host application, including waits.",
        stability: .detail,
        bounds: Buckets.cycle
    )
    let requests = page.counters(
        "starwatch_host_requests_total",
        "Requests of these polls, by result. Each attempt counts.",
        stability: .detail
    ).by(LabelDimension<RequestResult>("result"))
    let latency = page.histogram(
        "starwatch_host_request_seconds",
        "Time from the start of such a request to the last byte of its response.",
        stability: .detail,
        bounds: Buckets.latency
    )
    let retries = page.counters(
        "starwatch_host_retries_total",
        "Retries of such requests, by reason.",
        stability: .detail
    ).by(LabelDimension<RetryReason>("reason"))
    let retriesExhausted = page.counters(
        "starwatch_host_retries_exhausted_total",
        "Such requests that failed after their last retry, by reason.",
        stability: .detail
    ).by(LabelDimension<RetryReason>("reason"))
    let throttled = page.counters(
        "starwatch_host_throttled_total",
        "Such requests that waited for a rate limit, by source of the limit.",
        stability: .detail
    ).by(LabelDimension<ThrottleSource>("source"))
    let throttleWait = page.histograms(
        "starwatch_host_throttle_wait_seconds",
        "Wait time of such requests for a rate limit.",
        stability: .detail,
        bounds: Buckets.wait
    ).by(LabelDimension<ThrottleSource>("source"))

    package func ended(_ outcome: HostPollOutcome, after duration: Duration) {
        polls[outcome].increment()
        self.duration.observe(duration)
    }

    package func throttled(by source: ThrottleSource, for wait: Duration) {
        throttled[source].increment()
        throttleWait[source].observe(wait)
    }

    package func tried(_ request: borrowing OpenRequest) {
        requests[request.result].increment()
        latency.observe(request.end.duration)
    }

    package func retrying(because reason: RetryReason, after delay: Duration?) { retries[reason].increment() }

    package func exhausted(because reason: RetryReason) { retriesExhausted[reason].increment() }
}
