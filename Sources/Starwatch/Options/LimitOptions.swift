/// Limits of requests, cycles and shutdown.
public struct LimitOptions: Sendable, Hashable {
    /// Requests in any 60 s, including retries. By default 100.
    public var requestsPerMinute = 100
    /// Acknowledged identifiers in any 60 s. By default 1,000.
    public var acknowledgementsPerMinute = 1000
    /// Maximum number of concurrent cycles. By default 3.
    public var maxConcurrentPolls = 3
    /// Projects of the account that a cycle asks for, the newest, 1 to 5,000. By default 100. Those that the account issued
    /// come first: anybody can name it as the agent of any number of others.
    public var maxOwnPlans = 100
    /// Time after which a cycle stops requesting pages; the next cycle continues. By default 10 min.
    ///
    /// The agent checks the time after each page. A cycle that the next one could not resume runs to its end: a poll's
    /// first cycle, one whose plans need several requests, and one that refetches changes dropped for lack of room.
    public var cycle = Duration.seconds(600)
    /// Maximum duration of a shutdown. Work still in flight is then abandoned, without loss. By default 30 s.
    public var shutdown = Duration.seconds(30)

    public init() {}
}
