package import StarwatchCore
package import StarwatchTelemetry

/// Metrics of the clock, the tokens and the identity.
package struct ClockMetrics: Sendable {
    package let skew: Gauge
    package let uncertainty: Gauge
    package let maxSkew: Gauge
    package let samples: MetricVector2<ClockSource, ClockSampleResult, Counter>
    package let lastSync: Gauge
    package let jumps: MetricVector1<ClockJump, Counter>
    package let tokenRefreshes: MetricVector1<TokenRefreshResult, Counter>
    package let tokenExpiry: Gauge
    package let keyCreated: Gauge
    package let poolRemaining: Gauge
    package let identityChanges: Counter

    init(registry: MetricRegistry, sources: Set<ClockSource> = Set(ClockSource.allCases)) {
        skew = registry.gauge(
            .gauge(
                "starwatch_clock_skew_seconds",
                unit: .seconds,
                "Server time minus local time; positive if the server is ahead."
            )
        )
        uncertainty = registry.gauge(
            .gauge(
                "starwatch_clock_skew_uncertainty_seconds",
                unit: .seconds,
                "Uncertainty of the clock skew, in either direction."
            )
        )
        maxSkew = registry.gauge(
            .gauge(
                "starwatch_clock_max_skew_seconds",
                unit: .seconds,
                "Configured clock skew above which the agent is degraded."
            )
        )
        samples = registry.counters(
            .counter(
                "starwatch_clock_samples_total",
                "Readings of the server's clock; time_endpoint includes X-Server-Time headers."
            ),
            by: LabelDimension("source", shown: sources),
            LabelDimension("result"),
            // A failed request has no Date header to read.
            where: { $0 != .dateHeader || $1 != .failed }
        )
        lastSync = registry.gauge(
            .gauge(
                "starwatch_clock_last_sync_timestamp_seconds",
                unit: .seconds,
                "Time of the last reading of the server's clock; 0 if never."
            )
        )
        jumps = registry.counters(
            .counter("starwatch_clock_jumps_total", "Steps of the local clock, and suspensions of the machine."),
            by: LabelDimension("kind")
        )
        tokenRefreshes = registry.counters(
            .counter("starwatch_token_refreshes_total", "Tokens created or taken from the pool, by result."),
            by: LabelDimension("result")
        )
        tokenExpiry = registry.gauge(
            .gauge(
                "starwatch_token_expiry_timestamp_seconds",
                unit: .seconds,
                "Expiry time of the current token; 0 without one."
            )
        )
        keyCreated = registry.gauge(
            .gauge(
                "starwatch_key_created_timestamp_seconds",
                unit: .seconds,
                "Creation time of the newest stored signing key, or the time of the last write to its file; 0 without one."
            )
        )
        poolRemaining = registry.gauge(
            .gauge("starwatch_token_pool_remaining", "Valid tokens left in the pool; 0 without one.")
        )
        identityChanges = registry.counter(
            .counter("starwatch_identity_changes_total", "Changes of the active identity.")
        )
    }
}
