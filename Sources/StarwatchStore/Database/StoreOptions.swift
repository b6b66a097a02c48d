package import StarwatchCore

/// Who may change the database's schema (R-STO-13).
package enum StoreOwner: String, Sendable, CaseIterable, Codable {
    /// The agent creates and migrates the database.
    case agent
    /// A host application does; the agent only asserts that the version is one it knows.
    case host
}

/// The transactions of the store; the `operation` label.
package enum StoreOperation: String, Sendable, CaseIterable {
    case open, pollState = "poll_state", commit, bootstrap, finishCycle = "finish_cycle"
    case identity, stars, server, claim, delivery, acknowledge, watermark
    case evict, edit, read, snapshot, log, digest, retention, checkpoint
}

/// Where an access stands; see ``StoreOptions/interrupt``.
package enum StoreMoment: Sendable, CaseIterable {
    /// Nothing was done yet.
    case begun
    /// It is committed, and the caller does not know.
    case ended
}

/// How a store is opened.
package struct StoreOptions: Sendable {
    /// The database file; created with mode 0600 where `owner` is `.agent`.
    package var path: String
    package var owner: StoreOwner = .agent
    /// How long to wait for another process's write lock; milliseconds are the finest unit.
    package var busyTimeout: Duration = .seconds(5)
    /// The largest size in SQLite pages of 4 KiB; beyond it writes fail with ``StoreError/full``. `nil`: no limit.
    package var maxPages: Int?
    /// The polls that fetch: only their rows are evicted, because only those come again.
    package var polls: Set<PollName> = []
    /// The polls of kind `starred_projects`: their watermark is mirrored in `settings`, and unstarring a plan
    /// suppresses their rows.
    package var starredPolls: Set<PollName> = []
    /// Called after every transaction, on the store's queue. Must not block.
    package var onTransaction: @Sendable (StoreOperation, Duration) -> Void = { _, _ in }
    /// Called for every failed transaction, on the store's queue, before the error is thrown.
    package var onError: @Sendable (StoreErrorKind) -> Void = { _ in }
    /// Called on the store's queue when the end of an unchanged cycle could not be stored.
    package var onUnrecorded: @Sendable (StoreError) -> Void = { _ in }
    /// Called after a transaction that changed outbox rows, with how many of each change. Never for a rollback.
    package var onChanges: @Sendable ([OutboxChange: Int]) -> Void = { _ in }
    /// Where the store runs; `nil`: on a queue of its own.
    package var queue: (any StoreQueue)?
    /// Called on the store's queue at the moments of every access; what it throws, the access fails with. A simulation
    /// makes disks fail here.
    package var interrupt: (@Sendable (StoreOperation, StoreMoment) throws(StoreError) -> Void)?

    package init(path: String) {
        self.path = path
    }
}
