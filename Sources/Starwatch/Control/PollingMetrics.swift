/// A summary of the poll `starred_projects`, with the names of the first version (R-TEL-15).
///
/// Counts are those of the `starred_projects_*` metrics: since the start of the process, and zero without that poll.
public struct PollingMetrics: Sendable, Codable, Hashable {
    /// Cycles that reached the server.
    public var pollsTotal = 0
    public var pollsSuccessful = 0
    public var pollsFailed = 0
    /// Changes that were new to the outbox.
    public var changesFound = 0
    public var notificationsGenerated = 0
    /// Responses that rate-limited a request.
    public var throttlesHit = 0
    /// Mean duration of a request in seconds; 0 without requests.
    public var averageResponseTime = 0.0
    /// Time of the last cycle that reached the server; `nil` if there is none.
    public var lastPollTimestamp: String?

    public init() {}
}
