package import StarwatchCore
package import StarwatchTelemetry

/// Requests to the server, their retries, and what held them back.
package struct APIMetrics: Sendable {
    package let requests: MetricVector2<Endpoint, RequestResult, Counter>
    package let latency: MetricVector1<Endpoint, Histogram>
    package let phases: MetricVector1<RequestPhase, Histogram>
    package let receivedBytes: MetricVector1<Endpoint, Counter>
    package let sentBytes: MetricVector1<Endpoint, Counter>
    package let retries: MetricVector2<Endpoint, RetryReason, Counter>
    package let retriesExhausted: MetricVector2<Endpoint, RetryReason, Counter>
    package let retryDelay: MetricVector1<RetryReason, Histogram>
    package let throttled: MetricVector2<Endpoint, ThrottleSource, Counter>
    package let throttleWait: MetricVector1<ThrottleSource, Histogram>
    package let throttleUntil: Gauge
    package let rateLimitRemaining: Gauge
    /// The sinks' too.
    package let circuitState: MetricVector1<ConfiguredName, Gauge>
    package let circuitTransitions: MetricVector2<ConfiguredName, CircuitState, Counter>
    /// All requests of the last minute, for the contract set.
    package let rate = WindowedRate()

    init(registry: MetricRegistry, circuits: ConfiguredNames) {
        let endpoint = LabelDimension<Endpoint>("endpoint")
        let target = LabelDimension<ConfiguredName>("target", of: circuits)
        requests = registry.counters(
            .counter(
                "starwatch_api_requests_total",
                "Requests to the server, each try counted, by how they ended.",
                carriesExemplars: true
            ),
            by: endpoint,
            LabelDimension("result")
        )
        latency = registry.histograms(
            .histogram(
                "starwatch_api_latency_seconds",
                "From the start of a request to the last byte of its answer.",
                carriesExemplars: true
            ),
            bounds: Buckets.latency,
            by: endpoint
        )
        phases = registry.histograms(
            .histogram("starwatch_api_phase_seconds", "The phases of requests; those that did not occur are left out."),
            bounds: Buckets.phase,
            by: LabelDimension("phase")
        )
        receivedBytes = registry.counters(
            .counter(
                "starwatch_api_received_bytes_total",
                unit: .bytes,
                "Bytes of answers, as they came over the network."
            ),
            by: endpoint
        )
        sentBytes = registry.counters(
            .counter("starwatch_api_sent_bytes_total", unit: .bytes, "Bytes of requests, heads included."),
            by: endpoint
        )
        retries = registry.counters(
            .counter(
                "starwatch_retries_total",
                "Requests that were tried again, by why.",
                carriesExemplars: true
            ),
            by: endpoint,
            LabelDimension("reason")
        )
        retriesExhausted = registry.counters(
            .counter(
                "starwatch_retries_exhausted_total",
                "Requests that were given up after their last try, by why.",
                carriesExemplars: true
            ),
            by: endpoint,
            LabelDimension("reason")
        )
        retryDelay = registry.histograms(
            .histogram("starwatch_retry_delay_seconds", "Waits before a retry."),
            bounds: Buckets.wait,
            by: LabelDimension("reason")
        )
        throttled = registry.counters(
            .counter("starwatch_throttled_total", "Requests that had to wait, by who asked for it."),
            by: endpoint,
            LabelDimension("source")
        )
        throttleWait = registry.histograms(
            .histogram("starwatch_throttle_wait_seconds", "Waits for a rate limit."),
            bounds: Buckets.wait,
            by: LabelDimension("source")
        )
        throttleUntil = registry.gauge(
            .gauge(
                "starwatch_throttle_until_timestamp_seconds",
                unit: .seconds,
                "No request is sent before this time; 0 when nothing holds requests back."
            )
        )
        rateLimitRemaining = registry.gauge(
            .gauge(
                "starwatch_rate_limit_remaining",
                "Requests left in the current minute, by our own window or the server's word, whichever is less."
            )
        )
        circuitState = registry.gauges(
            .gauge("starwatch_circuit_state", "0 closed, 1 half-open, 2 open."),
            by: target
        )
        circuitTransitions = registry.counters(
            .counter("starwatch_circuit_transitions_total", "Changes of a circuit's state."),
            by: target,
            LabelDimension("to")
        )
    }
}
