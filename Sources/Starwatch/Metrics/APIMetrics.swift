package import StarwatchCore
package import StarwatchTelemetry

/// Metrics of requests to the server, their retries and rate limits.
package struct APIMetrics: Sendable {
    package let requests: MetricVector2<Endpoint, RequestResult, Counter>
    package let latency: MetricVector1<Endpoint, Histogram>
    package let phases: MetricVector1<RequestPhase, Histogram>
    package let receivedBytes: MetricVector1<Endpoint, Counter>
    package let sentBytes: MetricVector1<Endpoint, Counter>
    package let retries: MetricVector2<Endpoint, RetryReason, Counter>
    package let retriesExhausted: MetricVector2<Endpoint, RetryReason, Counter>
    package let retryDelay: Histogram
    package let throttled: MetricVector2<Endpoint, ThrottleSource, Counter>
    package let throttleWait: MetricVector1<ThrottleSource, Histogram>
    package let throttleUntil: Gauge
    package let rateLimitRemaining: Gauge
    /// States of the circuits of the server and the sinks.
    package let circuitState: MetricVector1<ConfiguredName, Gauge>
    package let circuitTransitions: MetricVector2<ConfiguredName, CircuitState, Counter>
    /// Rate of requests over the last minute, of the endpoint that the contract set describes.
    package let rate: [Endpoint: WindowedRate] = [.plansChanged: WindowedRate()]

    init(registry: MetricRegistry, circuits: ConfiguredNames, features: MetricFeatures) {
        let endpoint = LabelDimension<Endpoint>("endpoint", shown: features.endpoints)
        let target = LabelDimension<ConfiguredName>("target", of: circuits)
        requests = registry.counters(
            .counter(
                "starwatch_api_requests_total",
                "Requests to the server, by result. Each attempt counts.",
                carriesExemplars: true
            ),
            by: endpoint,
            LabelDimension("result"),
            where: { Self.isPolled($0) || $1 != .notModified }
        )
        latency = registry.histograms(
            .histogram(
                "starwatch_api_latency_seconds",
                "Time from the start of a request to the last byte of its response.",
                carriesExemplars: true
            ),
            bounds: Buckets.latency,
            by: endpoint
        )
        phases = registry.histograms(
            .histogram(
                "starwatch_api_phase_seconds",
                "Duration of request phases; only phases that occurred are counted."
            ),
            bounds: Buckets.phase,
            by: LabelDimension("phase", shown: features.phases)
        )
        receivedBytes = registry.counters(
            .counter(
                "starwatch_api_received_bytes_total",
                unit: .bytes,
                "Response bytes on the network."
            ),
            by: endpoint
        )
        sentBytes = registry.counters(
            .counter("starwatch_api_sent_bytes_total", unit: .bytes, "Request bytes, including headers."),
            by: endpoint
        )
        retries = registry.counters(
            .counter(
                "starwatch_retries_total",
                "Request retries, by reason.",
                carriesExemplars: true
            ),
            by: endpoint,
            LabelDimension("reason"),
            where: Self.isRetried
        )
        retriesExhausted = registry.counters(
            .counter(
                "starwatch_retries_exhausted_total",
                "Requests that failed after their last retry, by reason.",
                carriesExemplars: true
            ),
            by: endpoint,
            LabelDimension("reason"),
            where: Self.isRetried
        )
        // Not by reason, which would be six histograms; starwatch_retries_total has the reasons.
        retryDelay = registry.histogram(
            .histogram("starwatch_retry_delay_seconds", "Wait time before a retry."),
            bounds: Buckets.wait
        )
        throttled = registry.counters(
            .counter("starwatch_throttled_total", "Requests that waited for a rate limit, by source of the limit."),
            by: endpoint,
            LabelDimension("source")
        )
        throttleWait = registry.histograms(
            .histogram("starwatch_throttle_wait_seconds", "Wait time for a rate limit."),
            bounds: Buckets.wait,
            by: LabelDimension("source")
        )
        throttleUntil = registry.gauge(
            .gauge(
                "starwatch_throttle_until_timestamp_seconds",
                unit: .seconds,
                "Time before which no request is sent; 0 if requests are not held back."
            )
        )
        rateLimitRemaining = registry.gauge(
            .gauge(
                "starwatch_rate_limit_remaining",
                "Requests left in the current minute, by the agent's limit or the server's, whichever is lower."
            )
        )
        circuitState = registry.gauges(
            .gauge("starwatch_circuit_state", "Circuit breaker state: 0 closed, 1 half-open, 2 open."),
            by: target
        )
        circuitTransitions = registry.counters(
            .counter("starwatch_circuit_transitions_total", "State changes of a circuit breaker."),
            by: target,
            LabelDimension("to")
        )
    }

    /// Whether requests are retried at once for this reason. Acknowledgements and requests for the time have schedules of
    /// their own, so only a rejected token is retried at once.
    private static func isRetried(_ endpoint: Endpoint, _ reason: RetryReason) -> Bool {
        isPolled(endpoint) || reason == .unauthenticated
    }

    private static func isPolled(_ endpoint: Endpoint) -> Bool { endpoint != .acknowledge && endpoint != .time }
}
