package import StarwatchCore
package import StarwatchTelemetry

/// The clock, tokens and the identity.
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

    init(registry: MetricRegistry) {
        skew = registry.gauge(
            .gauge(
                "starwatch_clock_skew_seconds",
                unit: .seconds,
                "The server's time minus ours: positive when the server is ahead."
            )
        )
        uncertainty = registry.gauge(
            .gauge(
                "starwatch_clock_skew_uncertainty_seconds",
                unit: .seconds,
                "How far the skew may be off, either way."
            )
        )
        maxSkew = registry.gauge(
            .gauge(
                "starwatch_clock_max_skew_seconds",
                unit: .seconds,
                "The skew from which on the clock counts as wrong, as configured."
            )
        )
        samples = registry.counters(
            .counter(
                "starwatch_clock_samples_total",
                "Readings of the server's clock; time_endpoint counts X-Server-Time of any answer too."
            ),
            by: LabelDimension("source"),
            LabelDimension("result")
        )
        lastSync = registry.gauge(
            .gauge(
                "starwatch_clock_last_sync_timestamp_seconds",
                unit: .seconds,
                "When the server's clock was last read; 0 if never."
            )
        )
        jumps = registry.counters(
            .counter("starwatch_clock_jumps_total", "Steps of the local clock, and times the machine was suspended."),
            by: LabelDimension("kind")
        )
        tokenRefreshes = registry.counters(
            .counter("starwatch_token_refreshes_total", "Tokens made or taken from the pool."),
            by: LabelDimension("result")
        )
        tokenExpiry = registry.gauge(
            .gauge(
                "starwatch_token_expiry_timestamp_seconds",
                unit: .seconds,
                "When the current token expires; 0 without one."
            )
        )
        keyCreated = registry.gauge(
            .gauge(
                "starwatch_key_created_timestamp_seconds",
                unit: .seconds,
                "When the signing key's file was last written; 0 without one."
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
