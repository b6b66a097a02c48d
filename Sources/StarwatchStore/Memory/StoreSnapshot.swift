package import StarwatchCore

/// The identity whose stars are watched.
package struct ActiveIdentity: Sendable, Hashable {
    /// `nil` after signing out; nothing is polled then.
    package let did: DID?
    /// A number that rises with every change. A poll that began under an earlier one commits nothing.
    package let generation: Int
}

/// The state of one stream for `/metrics` and `status`.
package struct StreamSnapshot: Sendable, Hashable {
    package let watermark: JWTID?
    package let fetchCursor: JWTID?
    package let lastAttempt: Timestamp?
    package let lastSuccess: Timestamp?
    package let lastOutcome: PollOutcome?
    /// The end of its last cycle that found new changes; `nil` if none did since version 9.
    package let lastNew: Timestamp?
    package let nextRun: Timestamp?
    /// The server's time up to which the poll had seen every change.
    package let seenUntil: Timestamp?
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
    /// The number of their changes.
    package let rows: Int
    /// The time since which the oldest one is due, whatever its retries; it can be in the future.
    package let oldestDue: Timestamp
    /// The earliest planned attempt, or end of a running one, whatever the sink's own wait.
    package let nextAttempt: Timestamp
    /// Apart, because a snapshot is older than the moment that it is looked at.
    private let parts: [Part]

    /// `nil` for no part.
    init?(_ parts: [Part]) {
        guard let oldest = parts.map(\.oldestDue).min(), let next = parts.map(\.nextAttempt).min() else { return nil }
        notifications = parts.reduce(0) { $0 + $1.notifications }
        rows = parts.reduce(0) { $0 + $1.rows }
        (oldestDue, nextAttempt, self.parts) = (oldest, next, parts)
    }

    /// Returns the changes that the sink's hours hold at `now`; `nil` for none.
    package func held(at now: Timestamp) -> HealthFacts.HeldChanges? {
        let held = parts.filter { $0.isHeld(at: now) }
        return held.compactMap(\.heldUntil).min().map { .init(count: held.reduce(0) { $0 + $1.rows }, until: $0) }
    }

    /// Returns the time since which the oldest one is due that the sink's hours do not hold at `now`; `nil` for none.
    package func oldestDue(at now: Timestamp) -> Timestamp? {
        parts.filter { !$0.isHeld(at: now) }.map(\.oldestDue).min()
    }

    /// The notifications that the hours of the sink hold until the same moment, or those that they do not hold.
    struct Part: Sendable, Hashable {
        let notifications: Int
        let rows: Int
        let oldestDue: Timestamp
        let nextAttempt: Timestamp
        /// The end of the hold, which can be over; `nil` without one.
        let heldUntil: Timestamp?

        func isHeld(at now: Timestamp) -> Bool { heldUntil.map { $0 > now } ?? false }
    }
}

/// The state of the store at one moment.
package struct StoreSnapshot: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// The requested streams that were ever used.
    package let streams: [StreamKey: StreamSnapshot]
    /// The number of rows of all streams: pending, claimed, delivered, dead, evicted. Every state has an entry.
    package let rows: [OutboxState: Int]
    /// The creation time of the oldest row that is pending or claimed; `nil` if there is none. Whether it is late depends on
    /// grouping, which only the dispatcher knows.
    package let oldestPending: Timestamp?
    /// The time at which the oldest dead row became so; `nil` if there is none.
    package let oldestDead: Timestamp?
    /// The open notifications of each sink that has any.
    package let backlogs: [String: SinkBacklog]
    /// The number of notifications that an optional sink rejected or was given up for. Their rows are finished.
    package let undelivered: Int
    /// The sum of the ledgers' absolute differences from `fetched = new + duplicate + rejected`, which must be 0.
    package let fetchedImbalance: Int
    /// The same sum for `new = delivered + dead + cancelled + suppressed + pending`.
    package let newImbalance: Int
    /// The number of quarantined items of the active identity.
    package let quarantined: Int
    /// The sums of all ledgers' entries since the database began. They never fall.
    package let totals: Ledger
}
