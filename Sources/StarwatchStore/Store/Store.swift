import GRDB
import StarwatchCore
package import Synchronization

/// The database of one agent: settings, outbox, deliveries, watermarks, ledger.
///
/// Uses one connection and short transactions. Every method is one transaction unless it says otherwise. It throws
/// ``StoreError``, and a call that throws has changed nothing. Cancellation has no effect: a transaction that has begun
/// is finished. Times are arguments. Callers see no SQL.
package actor Store {
    nonisolated let executor: any StoreQueue
    package nonisolated let health = StoreHealth()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let options: StoreOptions
    let database: DatabaseQueue
    let vault: Vault
    /// The pass that encrypts values of retiring keys again; `nil` if it has not begun.
    var resealPass: ResealPass?
    /// Retiring keys of values that do not open. No pass begins for them again before a restart.
    var stuckKeys: Set<Int64> = []
    let lock: FileLock
    nonisolated let pageCheck: PageCheck
    /// The damage that a check has found; `nil` for none.
    var damage: StoreError?
    /// The row ids of streams. Only retention deletes rows of `streams`, and it clears this cache.
    ///
    /// Without it each step of a change begins a transaction more, and an unchanged cycle takes 4 % more instructions
    /// (`Benchmarks/poll cycles` under callgrind).
    var streamIDs: [StreamKey: Int64] = [:]
    let starredPolls: Set<PollName>
    private var changes: [OutboxChange: Int] = [:]
    /// The rows and notifications that the current access has set aside because they do not open.
    var newlyUnreadable = 0
    /// The number of rows and notifications set aside since the dispatcher last took it.
    package nonisolated let unreadable = Atomic<Int>(0)
    /// The number of rows that this connection has changed. If a call does not change it, cached reads stay valid.
    private var changedRows = 0
    nonisolated let pollMemory = PollMemory()
    nonisolated let snapshotMemory = SnapshotMemory()
    nonisolated let unchanged = UnchangedCycles()
    /// The number of transactions that changed or closed stored notifications for an operator.
    nonisolated let renewals = Atomic(0)

    /// Opens the database. Creates and migrates it if the agent owns it.
    ///
    /// Releases the leases of an earlier process: notifications that it claimed and did not confirm are due again.
    ///
    /// - Throws: ``StoreError/alreadyOpen`` for a second agent, ``StoreError/version(found:supported:)`` for an unknown
    ///   schema version, ``StoreError/corrupt(detail:)``, ``StoreError/io(detail:)``.
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
            let hasLog = DatabaseFile.bytes(path: options.path + "-wal") > 0
            database = try DatabaseQueue(path: options.path, configuration: Self.configuration(options))
            let isSound = try Schema.open(
                database,
                owner: options.owner,
                masterKey: options.masterKey,
                checks: Self.scope(options, lock.note() ?? ""),
                // The note must be gone before the first write: a crash can leave a file that fits it by chance.
                beforeWriting: { [lock] in try lock.write(note: "") }
            )
            pageCheck = PageCheck(path: options.path, isSound ? .unneeded : .running)
            vault = try Sealing.open(database, options.masterKey, newKey: options.newKey, now: options.now)
            // Moves the log of a crashed process into the database, so that it survives a power loss. Without room it
            // stays there.
            if hasLog, options.owner == .agent {
                try? database.writeWithoutTransaction { _ = try $0.checkpoint(.full) }
            }
            try database.write { db in
                try db.execute(sql: "UPDATE deliveries SET leased_until = NULL WHERE state = 'pending'")
            }
        } catch {
            let error = StoreError(error)
            options.observer?.failed(error.kind)
            throw error
        }
        options.observer?.ended(.open, after: ContinuousClock.now - start)
    }

    private static func scope(_ options: StoreOptions, _ note: String) -> PageCheckScope {
        // A host can end without the agent's notice.
        if options.owner == .agent, !note.isEmpty, note == EndMark.sound(path: options.path) { return .none }
        guard options.checksLater, note != EndMark.damaged else { return .all }
        return .deciding(atOnce: options.pagesCheckedAtOnce)
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
            // In KiB. Holds the indexes of 100,000 open rows; with SQLite's default of 2,000 every count would read the
            // file.
            try db.execute(sql: "PRAGMA cache_size = -8000")
            // Keeps the statement journal in memory, because the folder for temporary files may not exist.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            if let maxPages { try db.execute(sql: "PRAGMA max_page_count = \(maxPages)") }
        }
        return configuration
    }

    /// Closes the database, so that another agent can open it. Later calls throw ``StoreError/io(detail:)``.
    package func close() {
        storeUnchanged()
        pageCheck.stop()
        try? database.close()
        // After the database is on the disk. Without the note the next start checks all pages.
        try? lock.write(note: endMark)
        lock.release()
    }

    // MARK: - Access

    /// Runs one immediate transaction.
    func write<T>(_ operation: StoreOperation, _ body: (Session) throws -> T) throws(StoreError) -> T {
        try access(operation) { try database.write { db in try counted(db, body) } }
    }

    /// Runs statements that are each their own transaction: reads, or a single write.
    func direct<T>(_ operation: StoreOperation, _ body: (Session) throws -> T) throws(StoreError) -> T {
        try access(operation) { try database.writeWithoutTransaction { db in try counted(db, body) } }
    }

    private func counted<T>(_ db: Database, _ body: (Session) throws -> T) throws -> T {
        let session = Session(database: db, vault: vault)
        try vault.refresh(session)
        let result = try body(session)
        // Not in a `defer`: after an error the connection can be closed, and SQLite must not be asked.
        changedRows = db.totalChangesCount
        return result
    }

    private func access<T>(_ operation: StoreOperation, _ body: () throws -> T) throws(StoreError) -> T {
        if let damage { throw damage }
        // First, so that this access sees them, and they need no write of their own later.
        storeUnchanged()
        let start = ContinuousClock.now
        let before = changedRows
        var hasFailed = false
        health.begin(at: start)
        defer {
            health.end()
            // The failed transaction can have created streams that do not exist now.
            if hasFailed { streamIDs.removeAll() }
            // Also after an error, because a commit can reach the disk before it fails.
            if hasFailed || changedRows != before {
                if operation.changesPollState {
                    pollMemory.forget()
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
            vault.failed()
            resealPass = nil
            changes.removeAll(keepingCapacity: true)
            newlyUnreadable = 0
            let error = StoreError(error)
            // The damage of one value is not the database's. A part that fails by it says so itself.
            if !error.isOfOneValue { health.failed(error.kind) }
            options.observer?.failed(error.kind)
            throw error
        }
        options.observer?.ended(operation, after: ContinuousClock.now - start)
        if !changes.isEmpty {
            options.observer?.changed(changes)
            changes.removeAll(keepingCapacity: true)
        }
        if newlyUnreadable > 0 {
            unreadable.add(newlyUnreadable, ordering: .relaxed)
            newlyUnreadable = 0
        }
        return result
    }

    /// Counts a change of outbox rows. ``StoreObserver/changed(_:)`` reports it after the commit.
    func record(_ change: OutboxChange, _ count: Int) {
        if count > 0 { changes[change, default: 0] += count }
    }

    // MARK: - Streams

    /// The row id of a stream. Creates the stream and its ledger at first use.
    func streamID(_ stream: StreamKey) throws(StoreError) -> Int64 {
        if let id = streamIDs[stream] { return id }
        let id: Int64 = try write(.read) { db in
            let key: SQLArguments = [db.key(stream.account), stream.server, stream.poll.rawValue]
            if let id: Int64 = try db.value("SELECT id FROM streams WHERE account = ? AND server = ? AND poll = ?", key)
            {
                return id
            }
            try db.enrol(stream.account)
            let id = try db.inserted("INSERT INTO streams (account, server, poll) VALUES (?, ?, ?) RETURNING id", key)
            try db.run("INSERT INTO ledger (stream_id) VALUES (?)", [id])
            return id
        }
        streamIDs[stream] = id
        return id
    }
}
