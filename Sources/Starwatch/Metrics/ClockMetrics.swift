package import StarwatchCore
import StarwatchPolling
package import StarwatchTelemetry

/// Metrics of the clock, the tokens and the identity.
package struct ClockMetrics: Sendable {
    package let skew = page.gauge(
        "starwatch_clock_skew_seconds",
        "Server time minus local time; positive if the server is ahead."
    )
    package let uncertainty = page.gauge(
        "starwatch_clock_skew_uncertainty_seconds",
        "Uncertainty of the clock skew, in either direction."
    )
    package let maxSkew = page.gauge(
        "starwatch_clock_max_skew_seconds",
        "Configured clock skew above which the agent is degraded."
    )
    package let samples = page.counters(
        "starwatch_clock_samples_total",
        "Readings of the server's clock; time_endpoint includes X-Server-Time headers."
    ).by(
        LabelDimension<ClockSource>("source", shown: CatalogueScope.current.features.clockSources),
        LabelDimension<ClockSampleResult>("result"),
        // A failed request has no Date header to read, and jumps are rare.
        where: { ($0 != .dateHeader || $1 != .failed) && $1 != .ignoredJump }
    )
    package let local = page.gauge("starwatch_clock_local_timestamp_seconds", "Local time of the scrape, as Unix time.")
    package let lastSync = page.gauge(
        "starwatch_clock_last_sync_timestamp_seconds",
        "Time of the last reading of the server's clock; 0 if never."
    )
    package let jumps = page.counters(
        "starwatch_clock_jumps_total",
        "Steps of the local clock, and suspensions of the machine."
    ).by(LabelDimension<ClockJump>("kind"))
    package let tokenRefreshes = page.counters(
        "starwatch_token_refreshes_total",
        "Tokens created or taken from the pool, by result."
    ).by(LabelDimension<WorkResult>("result"))
    package let tokenExpiry = page.gauge(
        "starwatch_token_expiry_timestamp_seconds",
        "Expiry time of the current token; 0 without one."
    )
    package let keyCreated = page.gauge(
        "starwatch_key_created_timestamp_seconds",
        "Creation time of the newest stored signing key, or the time of the last write to its file; 0 without one."
    )
    package let poolRemaining = page.gauge(
        "starwatch_token_pool_remaining",
        "Valid tokens left in the pool; 0 without one."
    )
    package let identityChanges = page.counter("starwatch_identity_changes_total", "Changes of the active identity.")

    /// Registers the metric of the time zones' rules.
    static func registerTimeZones() {
        page.table(
            .init(
                .info,
                "starwatch_time_zone_data_info",
                "Origin and version of the rules of time zones: files of the machine, or data in the program.",
                stability: .detail
            ),
            labels: [
                CatalogueLabel(name: "source", values: ZoneData.Source.allCases.map(\.rawValue)),
                CatalogueLabel(name: "version", values: []),
            ],
            largest: 1
        ) {
            let data = ZoneDatabase.ofMachine.data
            return [(labels: [("source", data.source.rawValue), ("version", data.version)], value: 1)]
        }
    }
}
