package import StarwatchCore
package import StarwatchStore
package import StarwatchTelemetry
import Synchronization

extension StoreErrorKind: MetricLabel {}

/// Metric catalogue: every family that the agent exposes, registered once, with all series at zero.
package final class AgentMetrics: Sendable {
    package let registry: MetricRegistry
    package let pollNames: ConfiguredNames
    package let sinkNames: ConfiguredNames
    /// Circuit names: `server`, then the sinks.
    package let circuitNames: ConfiguredNames
    package let polls: PollMetrics
    package let api: APIMetrics
    package let outbox: OutboxMetrics
    package let clock: ClockMetrics
    package let digests: DigestMetrics
    package let callbacks: CallbackMetrics
    package let log: LogMetrics
    package let host: HostPollMetrics
    /// The registry of the host program's polls until the program uses them; `nil` afterwards.
    private let unusedHostPolls: Mutex<MetricRegistry?>
    package let transactions: MetricVector1<TransactionGroup, Histogram>
    package let storeErrors: MetricVector1<StoreErrorKind, Counter>
    package let storeBytes: MetricVector1<StoreFile, Gauge>
    package let storageEncrypted: Gauge
    package let reencryption: Gauge
    package let storageCheck: Gauge
    package let scrapes: MetricVector1<ScrapeCode, Counter>
    package let scrapeDuration: Histogram
    package let scrapesInFlight: Gauge
    package let controlRequests: MetricVector2<ControlOperation, ControlResult, Counter>
    package let controlRefused: MetricVector1<ControlRefusal, Counter>
    package let web: WebMetrics
    package let reloadSuccessful: Gauge
    package let reloadTime: Gauge

    /// Registers the catalogue.
    ///
    /// - Parameters:
    ///   - polls: The names of the configured polls, at most 16.
    ///   - sinks: The names of the configured sinks, at most 16.
    ///   - features: The features whose metrics are on the page.
    ///   - now: Returns the time, for the one gauge that is a rate.
    ///   - dependencies: The metrics that dependencies report through swift-metrics, for the same page.
    /// - Throws: ``TelemetryError`` if a name cannot be a label value.
    package init(
        polls: [String],
        sinks: [String],
        features: MetricFeatures = .all,
        now: @escaping @Sendable () -> Timestamp,
        dependencies: MetricsBridge = MetricsBridge()
    ) throws(TelemetryError) {
        registry = MetricRegistry(dependencies: dependencies)
        pollNames = try ConfiguredNames(polls)
        sinkNames = try ConfiguredNames(sinks)
        circuitNames = try ConfiguredNames(sinks, after: ["server"])
        self.polls = PollMetrics(registry: registry, polls: pollNames, features: features)
        api = APIMetrics(registry: registry, circuits: circuitNames, features: features)
        outbox = OutboxMetrics(registry: registry, polls: pollNames, sinks: sinkNames, local: features.localSinks)
        clock = ClockMetrics(registry: registry, sources: features.clockSources)
        digests = DigestMetrics(registry: features.hasDigests ? registry : MetricRegistry())
        callbacks = CallbackMetrics(registry: features.hasCallbacks ? registry : MetricRegistry())
        log = LogMetrics(registry: registry)
        let hostPolls = features.hasHostPolls ? registry : MetricRegistry()
        host = HostPollMetrics(registry: hostPolls)
        unusedHostPolls = Mutex(features.hasHostPolls ? nil : hostPolls)
        transactions = registry.histograms(
            .histogram("starwatch_store_transaction_seconds", "Duration of database transactions, by kind."),
            bounds: Buckets.local,
            by: LabelDimension("operation")
        )
        storeErrors = registry.counters(
            .counter("starwatch_store_errors_total", "Failed database transactions, by kind of error."),
            by: LabelDimension("kind")
        )
        storageEncrypted = registry.gauge(
            .gauge(
                "starwatch_storage_encrypted",
                "Whether the database is encrypted: 1 or 0.",
                stability: .detail
            )
        )
        reencryption = (features.isEncrypted ? registry : MetricRegistry()).gauge(
            .gauge(
                "starwatch_storage_reencryption_ratio",
                unit: .ratio,
                "Part of the rows that a rotation of the data keys has passed; 1 without a rotation.",
                stability: .detail
            )
        )
        storageCheck = registry.gauge(
            .gauge(
                "starwatch_storage_check_state",
                "Check of the database's pages: 0 unneeded, 1 running, 2 passed, 3 damaged, 4 ended without a result.",
                stability: .detail
            )
        )
        storeBytes = registry.gauges(
            .gauge("starwatch_store_bytes", unit: .bytes, "Sizes of the database files, and free disk space."),
            by: LabelDimension("file")
        )
        scrapes = registry.counters(
            .counter("starwatch_scrapes_total", "Metrics pages rendered or refused, by status code."),
            by: LabelDimension("code")
        )
        scrapeDuration = registry.histogram(
            .histogram("starwatch_scrape_seconds", "Time to render the metrics page."),
            bounds: Buckets.local
        )
        // A detail: the scrape that reads it is usually the only one it counts.
        scrapesInFlight = registry.gauge(
            .gauge("starwatch_scrapes_in_flight", "Metrics pages being rendered.", stability: .detail)
        )
        controlRequests = registry.counters(
            .counter("starwatch_control_requests_total", "Requests to the control API."),
            by: LabelDimension("operation", shown: features.controlOperations),
            LabelDimension("result")
        )
        controlRefused = registry.counters(
            .counter("starwatch_control_refused_total", "Requests that the control API refused, by reason."),
            by: LabelDimension("reason", shown: features.controlRefusals)
        )
        let webRegistry = features.webPorts.isEmpty ? MetricRegistry() : registry
        web = WebMetrics(registry: webRegistry, features: features)
        reloadSuccessful = registry.gauge(
            .gauge("starwatch_config_last_reload_successful", "Whether the last configuration load succeeded: 1 or 0.")
        )
        reloadTime = registry.gauge(
            .gauge(
                "starwatch_config_last_reload_success_timestamp_seconds",
                unit: .seconds,
                "Time of the last successful configuration load."
            )
        )
        registry.info(
            .info("starwatch_build_info", "Version, commit and Swift version of the running agent."),
            [
                InfoLabel("version", AgentVersion.current), InfoLabel("commit", AgentVersion.commit),
                InfoLabel("swift", AgentVersion.swift),
            ]
        )
        registry.gaugeView(.gauge("starwatch_metrics_series", "Series on this page, including those of dependencies."))
        {
            // The registry owns this closure, so a strong reference would leak both.
            [weak registry] in registry.map { Double($0.seriesCount + dependencies.seriesCount) }
        }
        ProcessMetrics.register(in: registry)
        registerContractSet(now: now)
    }

    /// Puts the metrics of the host program's polls on the page.
    package func showHostPolls() {
        let unused = unusedHostPolls.withLock { unused in
            defer { unused = nil }
            return unused
        }
        if let unused { registry.show(unused) }
    }

    /// Continues the counts of the agent that a reload ended, so that a scraper sees no restart.
    package func countOn(from previous: AgentMetrics) {
        if previous.unusedHostPolls.withLock({ $0 == nil }) { showHostPolls() }
        registry.countOn(from: previous.registry)
        for (endpoint, rate) in api.rate {
            if let former = previous.api.rate[endpoint] { rate.countOn(from: former) }
        }
    }
}
