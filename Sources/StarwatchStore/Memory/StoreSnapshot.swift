package import StarwatchCore

/// The state of one stream for `/metrics` and `status`.
package struct StreamSnapshot: Sendable, Hashable {
    package let watermark: JWTID?
    package let fetchCursor: JWTID?
    package let bootstrapped: Bool
    package let lastAttempt: Timestamp?
    package let lastSuccess: Timestamp?
    package let lastOutcome: PollOutcome?
    package let nextRun: Timestamp?
    package let lastNotifiedAt: Timestamp?
    /// The creation time of the oldest pending row; `nil` if there is none.
    package let oldestPending: Timestamp?
    package let ledger: Ledger
    /// The number of open and dead rows by state. A state without rows has no entry.
    package let rows: [OutboxState: Int]
    /// The reason why the last cycle failed or was deferred; `nil` if it succeeded.
    package let lastReason: FailureReason?
    /// The end of the first cycle that failed or was deferred since the last success; `nil` if none was.
    package let failingSince: Timestamp?
    /// The number of cycles that failed or were deferred since the last success, counted up to
    /// ``HealthFacts/Poll/failingAfter``. A cancelled cycle does not end the count.
    package let failures: Int
}

/// The notifications that wait for one sink.
package struct SinkBacklog: Sendable, Hashable {
    package let notifications: Int
    /// The time since which the oldest one is due, whatever its retries; it can be in the future.
    package let oldestDue: Timestamp
    /// The earliest planned attempt, or end of a running one, whatever the sink's own wait.
    package let nextAttempt: Timestamp
}

/// The state of the store at one moment.
package struct StoreSnapshot: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// The requested streams that were ever used.
    package let streams: [StreamKey: StreamSnapshot]
    /// The number of rows of all streams: pending, claimed, delivered, dead, evicted. Every state has an entry.
    package let rows: [OutboxState: Int]
    package let ages: OutboxAges
    /// The open notifications of each sink that has any.
    package let backlogs: [String: SinkBacklog]
    /// The number of notifications that an optional sink rejected or was given up for. Their rows are finished.
    package let undelivered: Int
    package let imbalance: LedgerImbalance
    /// The number of quarantined items of the active identity.
    package let quarantined: Int
    /// The sums of all ledgers' entries since the database began. They never fall.
    package let totals: Ledger
}
