import StarwatchCore
import StarwatchTelemetry

extension AgentMetrics {
    /// Endpoint of the pages of the polls that the contract set describes. The views of requests count its requests only.
    static let contractEndpoint = Endpoint.plansChanged

    /// Registers the twelve families without labels that dashboards of the first version use.
    ///
    /// Each is a view of series that other families count, so the two always agree. They count every poll of the kind
    /// `starred_projects`, whatever its name, and stay at zero without one. The help texts of four of them are part of the contract.
    func registerContractSet(now: @escaping @Sendable () -> Timestamp) {
        let shown = contractPolls
        func all(_ vector: MetricVector1<ConfiguredName, Counter>) -> [Counter] { shown.map { vector[$0] } }
        func counter(_ name: StaticString, _ help: StaticString, sumOf counters: [Counter]) {
            registry.view(.counter, name, help, stability: .contract) { Double(counters.reduce(0) { $0 + $1.value }) }
        }
        counter("starred_projects_poll_attempts_total", "Total number of polling attempts", sumOf: all(polls.attempts))
        counter("starred_projects_poll_success_total", "Total number of successful polls", sumOf: all(polls.successes))
        counter("starred_projects_poll_failure_total", "Polls that failed.", sumOf: all(polls.failures))
        registry.histogramView(
            "starred_projects_poll_duration_seconds",
            "Polling duration in seconds",
            stability: .contract,
            sumOf: shown.map { polls.duration[$0] },
            bounds: Buckets.contractCycle
        )
        counter("starred_projects_changes_found_total", "Changes found.", sumOf: all(polls.changesFound))
        counter(
            "starred_projects_notifications_generated_total",
            "Notifications created.",
            sumOf: shown.flatMap { outbox.notifications.all($0) }
        )
        counter(
            "starred_projects_error_total",
            "Failed requests. Each attempt counts.",
            sumOf: RequestResult.failures.map { api.requests[Self.contractEndpoint, $0] }
        )
        counter(
            "starred_projects_rate_limit_total",
            "Responses that rate-limited a request.",
            sumOf: [api.requests[Self.contractEndpoint, .rateLimited]]
        )
        registry.histogramView(
            "starred_projects_api_latency_seconds",
            "Duration of requests.",
            stability: .contract,
            sumOf: [api.latency[Self.contractEndpoint]],
            bounds: Buckets.contractLatency
        )
        registry.view(
            .gauge,
            "starred_projects_api_throughput_rps",
            "Requests per second over the last 60 s.",
            stability: .contract
        ) { [rate = api.rate] in rate.perSecond(atMilliseconds: now().milliseconds) }
        registry.view(
            .gauge,
            "starred_projects_outbox_size",
            "Current number of undelivered notifications",
            stability: .contract
        ) { [outbox] in outbox.rows[.pending].value + outbox.rows[.claimed].value }
        registry.view(
            .gauge,
            "starred_projects_outbox_backpressure_active",
            "Whether polling is paused because the outbox is full: 1 or 0.",
            stability: .contract
        ) { [outbox] in outbox.backpressure.value }
    }
}

extension RequestResult {
    /// Results of failed requests. A cancelled request is none: the agent stopped or the identity changed.
    fileprivate static let failures = allCases.filter { ![.ok, .notModified, .cancelled].contains($0) }
}
