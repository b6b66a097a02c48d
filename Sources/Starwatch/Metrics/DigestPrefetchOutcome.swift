import StarwatchTelemetry

/// Outcome of a digest's fetch; the label of ``DigestMetrics/prefetches``.
package enum DigestPrefetchOutcome: String, MetricLabel, Codable {
    case fetched
    case notModified = "not_modified"
    case timeout
    /// The connection failed or broke, or the host's fetcher threw.
    case unreachable
    /// The response had a status other than 200 or 304, or a 304 without content to confirm; or the server's rate limit
    /// lasted until it was too late.
    case refused
    /// The response is not a JSON object, or is too long.
    case malformed
    /// The token's file is unusable.
    case noToken = "no_token"
    /// The identity changed, or the agent was stopped.
    case cancelled
}
