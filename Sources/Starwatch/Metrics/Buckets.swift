/// The bounds of the histograms, in seconds. 0.5 s and 2 s are objectives, so they are bounds of every latency.
enum Buckets {
    /// Requests: from a local server to past the longest time limit.
    static let latency = [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30, 60]
    /// The contract set's own bounds, a part of ``latency``.
    static let contractLatency = [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30]
    /// Phases of a request: a new connection takes well under a millisecond on one machine.
    static let phase = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60]
    /// Cycles: past the longest wait that is sat out within one.
    static let cycle = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900]
    /// The contract set's own bounds, a part of ``cycle``.
    static let contractCycle = [0.1, 0.5, 1, 2, 5, 10, 30]
    /// Waits before a retry and for a rate limit, past the longest backoff.
    static let wait = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 3600]
    /// How late a scheduled run began: two hours are the objective, four the most that is tolerated (R-SCH-07).
    static let lateness = [0.05, 0.5, 2, 10, 60, 300, 3600, 7200, 14_400, 86_400]
    /// From the change on the server to its delivery: seconds to days.
    static let freshness = [0.5, 2, 10, 60, 300, 900, 1800, 3600, 14_400, 21_600, 86_400]
    /// One attempt at a sink.
    static let delivery = [0.005, 0.02, 0.1, 0.5, 2, 10, 30, 60]
    /// Transactions and scrapes on a local disk.
    static let local = [0.0005, 0.002, 0.01, 0.05, 0.5, 2, 10]
}
