/// Histogram bounds, in seconds. 0.5 s and 2 s are objectives, so every latency histogram has them.
enum Buckets {
    /// Bounds for requests, from a server on the same machine on.
    static let latency = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30]
    /// Bounds of the contract set, a subset of ``latency``.
    static let contractLatency = [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30]
    /// Bounds for request phases. A new connection on one machine takes well under a millisecond.
    static let phase = [0.005, 0.05, 0.5, 2]
    /// Bounds for cycles, beyond the longest wait within one cycle.
    static let cycle = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900]
    /// Bounds for visits, whose limits are minutes.
    static let visit = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 90, 120, 180, 300, 900]
    /// Bounds of the contract set, a subset of ``cycle``.
    static let contractCycle = [0.1, 0.5, 1, 2, 5, 10, 30]
    /// Bounds for waits before a retry or for a rate limit, beyond the longest backoff.
    static let wait = [1.0, 5, 30, 300, 3600]
    /// Bounds for the lateness of scheduled runs. Two hours are the objective, four the limit.
    static let lateness = [0.05, 0.5, 2, 10, 60, 300, 3600, 7200, 14_400, 86_400]
    /// Bounds for the time from a change on the server to its delivery: seconds to a day.
    static let freshness = [
        0.5, 2, 5, 30, 60, 120, 300, 600, 900, 1800, 3600, 14_400, 21_600, 86_400,
    ]
    /// Bounds for one delivery attempt.
    static let delivery = [0.005, 0.02, 0.1, 0.5, 2, 5, 10, 30, 120]
    /// Bounds for database transactions and scrapes, on a local disk.
    static let local = [0.002, 0.01, 0.05, 0.5, 2]
}
