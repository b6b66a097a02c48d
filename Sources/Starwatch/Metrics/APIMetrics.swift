package import StarwatchCore
package import StarwatchTelemetry
import Synchronization

/// Metrics of requests to the server, their retries and rate limits.
package final class APIMetrics: Sendable {
    package let requests = page.counters(
        "starwatch_api_requests_total",
        "Requests to the server, by result. Each attempt counts.",
        carriesExemplars: true
    ).by(
        .endpoint,
        LabelDimension<RequestResult>("result", shown: CatalogueScope.current.features.results),
        where: { APIMetrics.isPolled($0) || !APIMetrics.rareResults.contains($1) }
    )
    package let latency = page.histograms(
        "starwatch_api_latency_seconds",
        "Time from the start of a request to the last byte of its response.",
        carriesExemplars: true,
        bounds: Buckets.latency
    ).by(.endpoint)
    /// No metric, but the bound of the p95 that the status shows: the longest request since the last look.
    private let longest = Mutex(Duration.zero)
    package let phases = page.histograms(
        "starwatch_api_phase_seconds",
        "Duration of request phases; only phases that occurred are counted.",
        bounds: Buckets.phase
    ).by(LabelDimension<RequestPhase>("phase", shown: CatalogueScope.current.features.phases))
    package let receivedBytes = page.counters("starwatch_api_received_bytes_total", "Response bytes on the network.")
        .by(.endpoint)
    package let sentBytes = page.counters("starwatch_api_sent_bytes_total", "Request bytes, including headers.")
        .by(.endpoint)
    package let retries = page.counters(
        "starwatch_retries_total",
        "Request retries, by reason.",
        carriesExemplars: true
    ).by(.endpoint, LabelDimension<RetryReason>("reason"), where: APIMetrics.isRetried)
    package let retriesExhausted = page.counters(
        "starwatch_retries_exhausted_total",
        "Requests that failed after their last retry, by reason.",
        carriesExemplars: true
    ).by(.endpoint, LabelDimension<RetryReason>("reason"), where: APIMetrics.isRetried)
    // Not by reason, which would be six histograms; starwatch_retries_total has the reasons.
    package let retryDelay = page.histogram(
        "starwatch_retry_delay_seconds",
        "Wait time before a retry.",
        bounds: Buckets.wait
    )
    package let throttled = page.counters(
        "starwatch_throttled_total",
        "Requests that waited for a rate limit, by source of the limit."
    ).by(.endpoint, LabelDimension<ThrottleSource>("source"))
    package let throttleWait = page.histograms(
        "starwatch_throttle_wait_seconds",
        "Wait time for a rate limit.",
        bounds: Buckets.wait
    ).by(LabelDimension<ThrottleSource>("source"))
    package let throttleUntil = page.gauge(
        "starwatch_throttle_until_timestamp_seconds",
        "Time before which no request is sent; 0 if requests are not held back."
    )
    package let rateLimitRemaining = page.gauge(
        "starwatch_rate_limit_remaining",
        "Requests left in the current minute, by the agent's limit or the server's, whichever is lower."
    )
    /// States of the circuits of the server and the sinks.
    package let circuitState = page.gauges(
        "starwatch_circuit_state",
        "Circuit breaker state: 0 closed, 1 half-open, 2 open."
    ).by(.circuit)
    package let circuitTransitions = page.counters(
        "starwatch_circuit_transitions_total",
        "State changes of a circuit breaker."
    ).by(.circuit, LabelDimension<CircuitState>("to"))
    /// Rate of requests over the last minute, of the endpoint that the contract set describes.
    package let rate = WindowedRate()

    /// Whether requests are retried at once for this reason. Acknowledgements and requests for the time have schedules of
    /// their own, so only a rejected token is retried at once.
    private static func isRetried(_ endpoint: Endpoint, _ reason: RetryReason) -> Bool {
        isPolled(endpoint) || reason == .unauthenticated
    }

    /// The results that acknowledgements and requests for the time do not have with a server in order. No alert counts them.
    private static let rareResults: Set<RequestResult> = [
        .notModified, .badRequest, .notFound, .redirected, .tooLarge, .html, .cancelled,
    ]

    private static func isPolled(_ endpoint: Endpoint) -> Bool { endpoint != .acknowledge && endpoint != .time }
}

extension APIMetrics {
    func note(requestOf duration: Duration) { longest.withLock { $0 = max($0, duration) } }

    /// The seconds of the longest request since the last look.
    var longestSeconds: Double { longest.withLock { $0.inSeconds } }

    /// Returns the same, and begins again.
    func takeLongestSeconds() -> Double {
        longest.withLock { longest in
            defer { longest = .zero }
            return longest.inSeconds
        }
    }
}
