package import StarwatchCore
package import StarwatchTelemetry
import Synchronization

extension StoreErrorKind: MetricLabel {}

/// The registry in which metrics are registered by their declaration.
var page: MetricRegistry { .current }

/// Metric catalogue: every family that the agent exposes, registered once, with all series at zero.
///
/// Each property registers its family in the scope that ``make(polls:sinks:features:now:dependencies:)`` sets.
package final class AgentMetrics: Sendable {
    package let registry = MetricRegistry.current
    package let pollNames = CatalogueScope.current.polls
    /// The polls that the contract set describes.
    package let contractPolls = CatalogueScope.current.polls.all.filter {
        CatalogueScope.current.features.contractPolls.contains($0.text)
    }
    package let sinkNames = CatalogueScope.current.sinks
    /// Circuit names: `server`, then the sinks.
    package let circuitNames = CatalogueScope.current.circuits
    package let polls = PollMetrics()
    package let api = APIMetrics()
    package let outbox = OutboxMetrics()
    package let clock = ClockMetrics()
    package let digests = CatalogueScope.registered(if: \.hasDigests) { DigestMetrics() }
    package let callbacks = CatalogueScope.registered(if: \.hasCallbacks) { CallbackMetrics() }
    package let fleet = CatalogueScope.registered(if: \.hasFleet) { FleetMetrics() }
    package let canary = CatalogueScope.registered(if: \.hasCanary) { CanaryMetrics() }
    package let log = LogMetrics()
    package let problems = ProblemMetrics()
    package let host: HostPollMetrics
    /// The registry of the host program's polls until the program uses them; `nil` afterwards.
    private let unusedHostPolls: Mutex<MetricRegistry?>
    package let transactions = page.histograms(
        "starwatch_store_transaction_seconds",
        "Duration of database transactions, by kind.",
        bounds: Buckets.local
    ).by(LabelDimension<TransactionGroup>("operation"))
    package let storeErrors = page.counters(
        "starwatch_store_errors_total",
        "Failed database transactions, by kind of error."
    ).by(LabelDimension<StoreErrorKind>("kind"))
    package let storageEncrypted = page.gauge(
        "starwatch_storage_encrypted",
        "Whether the database is encrypted: 1 or 0.",
        stability: .detail
    )
    package let reencryption = CatalogueScope.registered(if: \.isEncrypted) {
        page.gauge(
            "starwatch_storage_reencryption_ratio",
            "Part of the rows that a rotation of the data keys has passed; 1 without a rotation.",
            stability: .detail
        )
    }
    package let storageCheck = page.gauge(
        "starwatch_storage_check_state",
        "Check of the database's pages: 0 unneeded, 1 running, 2 passed, 3 damaged, 4 ended without a result.",
        stability: .detail
    )
    package let storeBytes = page.gauges("starwatch_store_bytes", "Sizes of the database files, and free disk space.")
        .by(LabelDimension<StoreFile>("file"))
    package let scrapes = page.counters("starwatch_scrapes_total", "Metrics pages rendered or refused, by status code.")
        .by(LabelDimension<ScrapeCode>("code"))
    package let scrapeDuration = page.histogram(
        "starwatch_scrape_seconds",
        "Time to render the metrics page.",
        bounds: Buckets.local
    )
    // A detail: the scrape that reads it is usually the only one it counts.
    package let scrapesInFlight = page.gauge(
        "starwatch_scrapes_in_flight",
        "Metrics pages being rendered.",
        stability: .detail
    )
    package let controlRequests = page.counters("starwatch_control_requests_total", "Requests to the control API.")
        .by(
            LabelDimension<ControlOperation>("operation", shown: CatalogueScope.current.features.controlOperations),
            LabelDimension<WorkResult>("result")
        )
    package let controlRefused = page.counters(
        "starwatch_control_refused_total",
        "Requests that the control API refused, by reason."
    ).by(LabelDimension<ControlRefusal>("reason", shown: CatalogueScope.current.features.controlRefusals))
    /// The refused requests of `http.listen`. The control API has its own.
    package let httpRefused = page.counters(
        "starwatch_http_refused_total",
        "Requests that `http.listen` refused, by reason.",
        stability: .detail
    ).by(
        LabelDimension<ControlRefusal>(
            "reason",
            shown: CatalogueScope.current.features.webPorts.contains(.http) ? [.host, .password, .rate] : []
        )
    )
    package let webReloadSuccessful = CatalogueScope.registered(if: \.hasWebPorts) {
        page.gauges(
            "starwatch_web_config_last_reload_successful",
            "Whether the last reading of the port's web configuration succeeded: 1 or 0.",
            stability: .detail
        ).by(LabelDimension<ServedPort>("port", shown: CatalogueScope.current.features.webPorts))
    }
    package let reloadSuccessful = page.gauge(
        "starwatch_config_last_reload_successful",
        "Whether the last configuration load succeeded: 1 or 0."
    )
    package let reloadTime = page.gauge(
        "starwatch_config_last_reload_success_timestamp_seconds",
        "Time of the last successful configuration load."
    )

    /// Registers the catalogue.
    ///
    /// - Parameters:
    ///   - polls: The names of the configured polls, at most 16.
    ///   - sinks: The names of the configured sinks, at most 16.
    ///   - features: The features whose metrics are on the page.
    ///   - now: Returns the time, for the one gauge that is a rate.
    ///   - dependencies: The metrics that dependencies report through swift-metrics, for the same page.
    /// - Throws: ``TelemetryError`` if a name cannot be a label value.
    package static func make(
        polls: [String],
        sinks: [String],
        features: MetricFeatures = .all,
        now: @escaping @Sendable () -> Timestamp,
        dependencies: MetricsBridge = MetricsBridge()
    ) throws(TelemetryError) -> AgentMetrics {
        let scope = CatalogueScope(
            polls: try ConfiguredNames(polls),
            sinks: try ConfiguredNames(sinks),
            circuits: try ConfiguredNames(sinks, after: ["server"]),
            features: features
        )
        return CatalogueScope.$current.withValue(scope) {
            MetricRegistry.$current.withValue(MetricRegistry(dependencies: dependencies)) {
                AgentMetrics(now: now, dependencies: dependencies)
            }
        }
    }

    private init(now: @escaping @Sendable () -> Timestamp, dependencies: MetricsBridge) {
        let hasHostPolls = CatalogueScope.current.features.hasHostPolls
        let hostPolls = hasHostPolls ? registry : MetricRegistry()
        host = MetricRegistry.$current.withValue(hostPolls) { HostPollMetrics() }
        unusedHostPolls = Mutex(hasHostPolls ? nil : hostPolls)
        registry.info(
            "starwatch_build_info",
            "Version, commit and Swift version of the running agent.",
            [
                .info("version", AgentVersion.current), .info("commit", AgentVersion.commit),
                .info("swift", AgentVersion.swift),
            ]
        )
        CatalogueScope.registered(if: \.hasTimeZones, ClockMetrics.registerTimeZones)
        registry.view(.gauge, "starwatch_metrics_series", "Series on this page, including those of dependencies.") {
            // The registry owns this closure, so a strong reference would leak both.
            [weak registry] in registry.map { Double($0.seriesCount + dependencies.seriesCount) }
        }
        ProcessMetrics.register(in: registry)
        registerContractSet(now: now)
    }

    /// Whether the host program has polls of its own.
    var showsHostPolls: Bool { unusedHostPolls.withLock { $0 == nil } }

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
        if previous.showsHostPolls { showHostPolls() }
        registry.countOn(from: previous.registry)
        problems.showOn(from: previous.problems)
        api.rate.countOn(from: previous.api.rate)
    }
}

/// The names and features that decide the catalogue's label values and series, while its properties are registered.
struct CatalogueScope: Sendable {
    /// Outside of ``AgentMetrics/make(polls:sinks:features:now:dependencies:)`` there are no names, and the metrics are
    /// on no page.
    @TaskLocal static var current = CatalogueScope()

    var polls = ConfiguredNames.none
    var sinks = ConfiguredNames.none
    var circuits = ConfiguredNames.none
    var features = MetricFeatures.all

    /// Makes metrics that are on the page only with a feature.
    static func registered<Metrics>(if hasFeature: (MetricFeatures) -> Bool, _ make: () -> Metrics) -> Metrics {
        hasFeature(current.features) ? make() : MetricRegistry.$current.withValue(MetricRegistry(), operation: make)
    }
}

extension LabelDimension where Value == ConfiguredName {
    static var poll: Self { LabelDimension("poll", of: CatalogueScope.current.polls) }
    static var sink: Self { LabelDimension("sink", of: CatalogueScope.current.sinks) }
    static var circuit: Self { LabelDimension("target", of: CatalogueScope.current.circuits) }
}

extension LabelDimension where Value == Endpoint {
    static var endpoint: Self { LabelDimension("endpoint", shown: CatalogueScope.current.features.endpoints) }
}
