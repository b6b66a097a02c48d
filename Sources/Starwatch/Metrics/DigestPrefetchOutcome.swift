import StarwatchTelemetry

/// How the fetch of a digest ended; the label of ``DigestMetrics/prefetches``.
package enum DigestPrefetchOutcome: String, MetricLabel, Codable {
    case fetched
    case notModified = "not_modified"
    case timeout
    /// No connection, or one that ended; a fetcher of the host's that threw.
    case unreachable
    /// An answer of another status than 200 or 304, or the latter without content to confirm; or the server had asked
    /// to be left alone until it was too late.
    case refused
    /// An answer that is not a JSON object, or is too long.
    case malformed
    /// The token's file cannot be used.
    case noToken = "no_token"
    /// The identity changed, or the agent was told to stop.
    case cancelled
}
