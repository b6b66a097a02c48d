import GRDB
import StarwatchCore
import Synchronization

/// The database of one agent: settings, outbox, deliveries, watermarks, ledger.
///
/// One connection, one writer, short transactions. Every method is one transaction unless it says otherwise, and
/// throws ``StoreError``; a call that threw changed nothing. Cancellation is not looked at: a transaction that has
/// begun is finished. Times are arguments. Callers see no SQL.
package actor Store {
    nonisolated let executor: any StoreQueue
    package nonisolated let health = StoreHealth()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let options: StoreOptions
    let database: DatabaseQueue
    private let lock: FileLock
    /// Rows of `streams` are only deleted by retention, which empties this.
    var streamIDs: [StreamKey: Int64] = [:]
    let starredPolls: Set<PollName>
    private var changes: [OutboxChange: Int] = [:]
    var openCounts: [Int64: [OutboxState: Int]]?
    /// How many rows this connection has ever changed: most passes find nothing to do, and what was read stays true.
    private var changedRows = 0
    nonisolated let pollMemory = PollMemory()
    nonisolated let snapshotMemory = SnapshotMemory()
    nonisolated let unchanged = UnchangedCycles()
    private nonisolated let changeCount = Atomic<UInt64>(0)

    /// Another one whenever something was written that dispatching or acknowledging goes by; `nil` where others may write
    /// too. Read it before what is read: a change that is missed then shows.
    package nonisolated var revision: UInt64? {
        options.owner == .agent ? changeCount.load(ordering: .acquiring) : nil
    }

    /// Opens the database, creating and migrating it where the agent owns it.
    ///
    /// Leases of a process that died are released: what it had claimed and not confirmed is due again.
    ///
    /// - Throws: ``StoreError/alreadyOpen`` for a second agent, ``StoreError/version(found:supported:)`` for a schema
    ///   this program does not know, ``StoreError/corrupt(detail:)``, ``StoreError/io(detail:)``.
    package init(_ options: StoreOptions) throws(StoreError) {
        self.options = options
        executor = options.queue ?? StoreExecutor()
        self.starredPolls = options.starredPolls
        let start = ContinuousClock.now
        do {
            switch options.owner {
            case .agent: try DatabaseFile.prepare(path: options.path)
            case .host: try DatabaseFile.mustExist(path: options.path)
            }
            lock = try FileLock(path: options.path + ".lock")
            database = try DatabaseQueue(path: options.path, configuration: Self.configuration(options))
            try Schema.open(database, owner: options.owner)
            // What a crash left in the log outlives the next loss of power. Where there is no room for it, it stays there.
            if options.owner == .agent { try? database.writeWithoutTransaction { _ = try $0.checkpoint(.full) } }
            try database.write { db in
                try db.execute(sql: "UPDATE deliveries SET leased_until = NULL WHERE state = 'pending'")
            }
        } catch {
            let error = StoreError(error)
            options.onError(error.kind)
            throw error
        }
        options.onTransaction(.open, ContinuousClock.now - start)
    }

    private static func configuration(_ options: StoreOptions) -> Configuration {
        var configuration = Configuration()
        configuration.label = "starwatch"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(options.busyTimeout.inSeconds)
        configuration.readonly = false
        let maxPages = options.maxPages
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // The indexes of 100,000 open rows, in KiB: with SQLite's own 2,000 every count reads them from the file again.
            try db.execute(sql: "PRAGMA cache_size = -8000")
            // A large statement's way back is kept in memory: no file of its own, in a folder that may not be there.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            if let maxPages { try db.execute(sql: "PRAGMA max_page_count = \(maxPages)") }
        }
        return configuration
    }

    /// Closes the database and lets another agent have it. Calls made afterwards throw ``StoreError/io(detail:)``.
    package func close() {
        try? database.close()
        lock.release()
    }

    // MARK: - Access

    /// One immediate transaction.
    func write<T>(_ operation: StoreOperation, _ body: (Database) throws -> T) throws(StoreError) -> T {
        try access(operation) { try database.write { db in try counted(db, body) } }
    }

    /// Statements that are each their own transaction: for reads, and for writes of a single statement.
    func direct<T>(_ operation: StoreOperation, _ body: (Database) throws -> T) throws(StoreError) -> T {
        try access(operation) { try database.writeWithoutTransaction { db in try counted(db, body) } }
    }

    private func counted<T>(_ db: Database, _ body: (Database) throws -> T) throws -> T {
        let result = try body(db)
        // Not in a `defer`: a body that threw may have found the connection closed, which SQLite cannot be asked about.
        changedRows = db.totalChangesCount
        return result
    }

    private func access<T>(_ operation: StoreOperation, _ body: () throws -> T) throws(StoreError) -> T {
        let start = ContinuousClock.now
        let before = changedRows
        var hasFailed = false
        health.begin(at: start)
        defer {
            health.end()
            // Of streams that may have been deleted.
            if hasFailed { streamIDs.removeAll() }
            // After an error too: a commit may have reached the disk before it failed.
            if hasFailed || changedRows != before {
                if operation.changesPollState {
                    pollMemory.forget()
                    openCounts = nil
                    changeCount.add(1, ordering: .releasing)
                }
                if operation.changesSnapshot { snapshotMemory.forget() }
            }
        }
        let result: T
        do {
            try options.interrupt?(operation, .begun)
            result = try body()
            try options.interrupt?(operation, .ended)
        } catch {
            hasFailed = true
            changes.removeAll(keepingCapacity: true)
            let error = StoreError(error)
            health.failed(error.kind)
            options.onError(error.kind)
            throw error
        }
        options.onTransaction(operation, ContinuousClock.now - start)
        if !changes.isEmpty {
            options.onChanges(changes)
            changes.removeAll(keepingCapacity: true)
        }
        return result
    }

    /// Counts a change of outbox rows, to be reported when the transaction has committed.
    func record(_ change: OutboxChange, _ count: Int) {
        if count > 0 { changes[change, default: 0] += count }
    }

    // MARK: - Streams

    /// The row id of a stream, created with its ledger at first use.
    func streamID(_ stream: StreamKey) throws(StoreError) -> Int64 {
        if let id = streamIDs[stream] { return id }
        let id = try write(.read) { db in
            let key: StatementArguments = [stream.account.rawValue, stream.server, stream.poll.rawValue]
            if let id = try Int64.fetchOne(
                db,
                sql: "SELECT id FROM streams WHERE account = ? AND server = ? AND poll = ?",
                arguments: key
            ) {
                return id
            }
            try db.execute(sql: "INSERT INTO streams (account, server, poll) VALUES (?, ?, ?)", arguments: key)
            let id = db.lastInsertedRowID
            try db.execute(sql: "INSERT INTO ledger (stream_id) VALUES (?)", arguments: [id])
            return id
        }
        streamIDs[stream] = id
        return id
    }
}
