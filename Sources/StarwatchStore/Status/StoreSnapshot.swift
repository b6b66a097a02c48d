package import StarwatchCore

/// The sizes of the database's files in bytes.
package struct FileSizes: Sendable, Hashable {
    package let database: Int
    package let wal: Int
    /// What an unprivileged program can still write on the device.
    package let freeDisk: Int
}

/// One stream as `/metrics` and `status` show it.
package struct StreamSnapshot: Sendable, Hashable {
    package let watermark: JWTID?
    package let fetchCursor: JWTID?
    package let bootstrapped: Bool
    package let lastAttempt: Timestamp?
    package let lastSuccess: Timestamp?
    package let lastOutcome: PollOutcome?
    package let nextRun: Timestamp?
    package let lastNotifiedAt: Timestamp?
    /// When the oldest pending row was stored; `nil` when there is none.
    package let oldestPending: Timestamp?
    package let ledger: Ledger
    /// Rows that are open or dead, by state; a state without rows is missing.
    package let rows: [OutboxState: Int]
}

/// The store at one moment.
package struct StoreSnapshot: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// The streams that were asked for and have ever been used.
    package let streams: [StreamKey: StreamSnapshot]
    /// Rows of all streams: pending, claimed, delivered, dead, evicted; every one is there.
    package let rows: [OutboxState: Int]
    package let ages: OutboxAges
    /// When the next delivery under way may be tried; `nil` when there is none.
    package let nextDeliveryAt: Timestamp?
    package let imbalance: LedgerImbalance
}
