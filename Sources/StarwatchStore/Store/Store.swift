import GRDB
import StarwatchCore
import Synchronization

/// The database of one agent: settings, outbox, deliveries, watermarks, ledger.
///
/// Uses one connection and short transactions. Callers reach its rows by topic, such as ``outbox``. Cancellation has no
/// effect: a transaction that has begun is finished. Times are arguments. Callers see no SQL.
package actor Store {
    nonisolated let executor: any StoreQueue
    package nonisolated let health: StoreHealth
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let options: StoreOptions
    /// Whether the store only reads, beside the agent that has the database open.
    package nonisolated var reads: Bool { options.reads }
    nonisolated let memory: StoreMemory
    let database: DatabaseQueue
    let context: SessionContext
    nonisolated let pageCheck: PageCheck
    /// The upgrade that this store made when it opened the database; `nil` if none was needed.
    package nonisolated let upgrade: SchemaUpgrade?

    /// Opens the database. Creates and migrates it if the agent owns it.
    ///
    /// - Throws: ``StoreError/alreadyOpen`` for a second agent, ``StoreError/version(found:supported:)`` for an unknown
    ///   schema version, ``StoreError/corrupt(detail:)``, ``StoreError/io(detail:)``.
    package init(_ options: StoreOptions) throws(StoreError) {
        self.options = options
        health = StoreHealth(patience: options.patience)
        executor = options.queue ?? StoreExecutor()
        let start = ContinuousClock.now
        do {
            let opened = try options.reads ? options.openBeside() : options.openOwned()
            (database, context) = (opened.queue, opened.context)
            (pageCheck, upgrade) = (opened.pageCheck, opened.upgrade)
            let file = options.owner == .agent && !options.reads ? DatabaseFile.Identity(path: options.path) : nil
            memory = StoreMemory(accounts: opened.context.accounts, file: file)
        } catch {
            let error = StoreError(error).naming(UpgradeCopy(path: options.path))
            options.observer?.failed(error.kind)
            throw error
        }
        options.observer?.ended(.open, after: ContinuousClock.now - start)
    }

    /// Closes the database, so that another agent can open it. Later calls throw ``StoreError/io(detail:)``.
    package func close() {
        memory.accounts.storeLate(in: self)
        pageCheck.stop()
        // The open file ends with this process.
        _ = try? DatabaseFile.rescue(database, of: memory.file, at: options.path, now: options.now())
        try? database.close()
        // After the database is on the disk.
        pageCheck.release(options, health.failure)
    }

    // MARK: - Access

    /// Runs one immediate transaction.
    ///
    /// - Parameters:
    ///   - account: The only account whose poll state it can change; `nil` if it can change that of others.
    ///   - hasLease: Whether it is refused if the account's lease was claimed here and then lost.
    ///   - isDurable: Whether a power loss cannot undo it.
    func write<T: Sendable>(
        _ operation: StoreOperation,
        of account: DID? = nil,
        hasLease: Bool = true,
        isDurable: Bool = false,
        _ body: @Sendable (Session) throws -> T
    ) throws(StoreError) -> T {
        let leased = hasLease ? account : nil
        return try access(operation, account) {
            if isDurable {
                return try database.writeDurably { db in try context.run(body, on: db, lease: leased) }
            }
            return try database.write { db in try context.run(body, on: db, lease: leased) }
        }
    }

    /// Runs statements that are each their own transaction: reads, or a single write.
    ///
    /// A write for an account with a lease is one transaction, so that it can be refused.
    ///
    /// - Parameter account: As in ``write(_:of:hasLease:_:)``.
    func direct<T: Sendable>(
        _ operation: StoreOperation,
        of account: DID? = nil,
        _ body: @Sendable (Session) throws -> T
    ) throws(StoreError) -> T {
        if let account, operation.writes, memory.accounts.lease(of: account) != nil {
            return try write(operation, of: account, body)
        }
        return try access(operation, account) {
            try database.writeWithoutTransaction { db in try context.run(body, on: db) }
        }
    }

    /// Runs one immediate transaction with the row id of a stream.
    func write<T: Sendable>(
        _ operation: StoreOperation,
        of stream: StreamKey,
        _ body: @Sendable (Session, Int64) throws -> T
    ) throws(StoreError) -> T {
        let id = try streamID(stream)
        return try write(operation, of: stream.account) { db in try body(db, id) }
    }

    /// Runs statements that are each their own transaction, with the row id of a stream.
    func direct<T: Sendable>(
        _ operation: StoreOperation,
        of stream: StreamKey,
        _ body: @Sendable (Session, Int64) throws -> T
    ) throws(StoreError) -> T {
        let id = try streamID(stream)
        return try direct(operation, of: stream.account) { db in try body(db, id) }
    }

    /// Runs several accesses without other work in between.
    func perform<T: Sendable, E: Error>(_ work: @Sendable (isolated Store) throws(E) -> T) throws(E) -> T {
        try work(self)
    }

    private func access<T>(
        _ operation: StoreOperation,
        _ account: DID?,
        _ body: () throws -> T
    ) throws(StoreError) -> T {
        if let damage = context.damage { throw damage }
        // First, so that this access sees them. Those of other accounts stay together until an access for all.
        if memory.accounts.mustWrite(for: account) { memory.accounts.storeLate(in: self) }
        let start = ContinuousClock.now
        let before = context.changedRows
        var hasFailed = false
        health.begin(at: start)
        defer {
            health.end()
            // The failed transaction can have created streams that do not exist now.
            if hasFailed { context.accounts.forgetIDs() }
            // Also after an error, because a commit can reach the disk before it fails.
            if hasFailed || context.changedRows != before {
                if operation.changesPollState { memory.accounts.forgetStates(of: account) }
                if operation.changesSnapshot { memory.snapshot.withLock { $0 = nil } }
            }
        }
        let result: T
        do {
            try options.interrupt?(operation, .begun)
            result = try body()
            try options.interrupt?(operation, .ended)
        } catch {
            hasFailed = true
            context.failed()
            let error = StoreError(error)
            // The damage of one value is not the database's. A part that fails by it says so itself.
            if !error.isOfOneValue, error != .leaseLost { health.failed(error.kind) }
            if error != .leaseLost { options.observer?.failed(error.kind) }
            throw error
        }
        options.observer?.ended(operation, after: ContinuousClock.now - start)
        let unreadable = context.committed()
        if unreadable > 0 { memory.unreadable.add(unreadable, ordering: .relaxed) }
        return result
    }

    /// The row id of a stream. Creates the stream and its ledger at first use.
    func streamID(_ stream: StreamKey) throws(StoreError) -> Int64 {
        if let id = context.accounts.look(at: stream.account, { $0.id(of: stream) }) { return id }
        // A read first, because one of many accounts is forgotten after each visit.
        var known = try direct(.read) { db in try db.streams.knownID(of: stream) }
        if known == nil { known = try write(.read, of: stream.account) { db in try db.streams.id(of: stream) } }
        guard let id = known else { throw .damaged }
        context.accounts.change(stream.account) { $0.remember(id, of: stream) }
        return id
    }
}

extension StoreOptions {
    /// The pages to check before the database is used.
    ///
    /// - Parameter note: The note of the last end.
    func scope(_ note: String) -> PageCheckScope {
        // A host can end without the agent's notice.
        if owner == .agent, !note.isEmpty, note == FileLock.noteOfSoundness(path: path) { return .none }
        guard checksLater, note != FileLock.noteOfDamage else { return .all }
        return .deciding(atOnce: pagesCheckedAtOnce)
    }

    var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "starwatch"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(busyTimeout.inSeconds)
        configuration.readonly = reads
        let maxPages = maxPages
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
}
