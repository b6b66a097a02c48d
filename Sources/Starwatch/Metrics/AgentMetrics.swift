package import StarwatchCore
package import StarwatchStore
package import StarwatchTelemetry

extension StoreOperation: MetricLabel {}
extension StoreErrorKind: MetricLabel {}

/// The metric catalogue: every family the agent exposes, registered once, all at zero.
package final class AgentMetrics: Sendable {
    package let registry: MetricRegistry
    package let pollNames: ConfiguredNames
    package let sinkNames: ConfiguredNames
    /// `server`, then the sinks.
    package let circuitNames: ConfiguredNames
    package let polls: PollMetrics
    package let api: APIMetrics
    package let outbox: OutboxMetrics
    package let clock: ClockMetrics
    package let digests: DigestMetrics
    package let log: LogMetrics
    package let host: HostPollMetrics
    package let transactions: MetricVector1<StoreOperation, Histogram>
    package let storeErrors: MetricVector1<StoreErrorKind, Counter>
    package let storeBytes: MetricVector1<StoreFile, Gauge>
    package let scrapes: MetricVector1<ScrapeCode, Counter>
    package let scrapeDuration: Histogram
    package let scrapesInFlight: Gauge
    package let controlRequests: MetricVector2<ControlOperation, ControlResult, Counter>
    package let reloadSuccessful: Gauge
    package let reloadTime: Gauge

    /// Registers the catalogue.
    ///
    /// - Parameters:
    ///   - polls: The configured names; at most 16.
    ///   - sinks: As `polls`.
    ///   - now: Reads the clock for the one gauge that is a rate.
    ///   - dependencies: What they report through swift-metrics, for the same page.
    /// - Throws: ``TelemetryError`` for names that cannot be label values.
    package init(
        polls: [String],
        sinks: [String],
        now: @escaping @Sendable () -> Timestamp,
        dependencies: MetricsBridge = MetricsBridge()
    ) throws(TelemetryError) {
        registry = MetricRegistry(dependencies: dependencies)
        pollNames = try ConfiguredNames(polls)
        sinkNames = try ConfiguredNames(sinks)
        circuitNames = try ConfiguredNames(sinks, after: ["server"])
        self.polls = PollMetrics(registry: registry, polls: pollNames)
        api = APIMetrics(registry: registry, circuits: circuitNames)
        outbox = OutboxMetrics(registry: registry, polls: pollNames, sinks: sinkNames)
        clock = ClockMetrics(registry: registry)
        digests = DigestMetrics(registry: registry)
        log = LogMetrics(registry: registry)
        host = HostPollMetrics(registry: registry)
        transactions = registry.histograms(
            .histogram("starwatch_store_transaction_seconds", "Duration of transactions of the database."),
            bounds: Buckets.local,
            by: LabelDimension("operation")
        )
        storeErrors = registry.counters(
            .counter("starwatch_store_errors_total", "Failed transactions of the database, by kind."),
            by: LabelDimension("kind")
        )
        storeBytes = registry.gauges(
            .gauge("starwatch_store_bytes", unit: .bytes, "Sizes of the database's files, and the disk's free space."),
            by: LabelDimension("file")
        )
        scrapes = registry.counters(
            .counter("starwatch_scrapes_total", "Answers to /metrics, by status."),
            by: LabelDimension("code")
        )
        scrapeDuration = registry.histogram(
            .histogram("starwatch_scrape_seconds", "Time to make a page of metrics."),
            bounds: Buckets.local
        )
        // A detail: whoever sees it is the one scrape that it counts.
        scrapesInFlight = registry.gauge(
            .gauge("starwatch_scrapes_in_flight", "Pages of metrics being made.", stability: .detail)
        )
        controlRequests = registry.counters(
            .counter("starwatch_control_requests_total", "Requests to the control API."),
            by: LabelDimension("operation"),
            LabelDimension("result")
        )
        reloadSuccessful = registry.gauge(
            .gauge("starwatch_config_last_reload_successful", "Whether the last load of the configuration succeeded.")
        )
        reloadTime = registry.gauge(
            .gauge(
                "starwatch_config_last_reload_success_timestamp_seconds",
                unit: .seconds,
                "When the configuration was last loaded."
            )
        )
        registry.info(
            .info("starwatch_build_info", "What is running."),
            [
                InfoLabel("version", AgentVersion.current), InfoLabel("commit", AgentVersion.commit),
                InfoLabel("swift", AgentVersion.swift),
            ]
        )
        registry.gaugeView(.gauge("starwatch_metrics_series", "Series on this page, those of dependencies included.")) {
            // The registry owns this closure: a strong reference would keep both for ever.
            [weak registry] in registry.map { Double($0.seriesCount + dependencies.seriesCount) }
        }
        ProcessMetrics.register(in: registry)
        registerContractSet(now: now)
    }
}
