import GRDB
import StarwatchCore

/// The parts of a store whose database was just opened.
struct OpenedDatabase {
    let queue: DatabaseQueue
    let pageCheck: PageCheck
    let context: SessionContext
    /// `nil` if the database had the newest version.
    var upgrade: SchemaUpgrade?

    /// Opens the database for an agent, which no other can then open.
    static func owned(_ options: StoreOptions) throws -> OpenedDatabase {
        switch options.owner {
        case .agent: try DatabaseFile.prepare(path: options.path)
        case .host: try DatabaseFile.mustExist(path: options.path)
        }
        let lock = try FileLock(path: options.path + ".lock")
        let hasLog = DatabaseFile.bytes(path: options.path + "-wal") > 0
        let queue = try DatabaseQueue(path: options.path, configuration: options.configuration)
        let copy = UpgradeCopy(path: options.path)
        if options.owner == .agent { copy.removePartial() }
        var upgrade: SchemaUpgrade?
        let isSound = try Schema.open(
            queue,
            owner: options.owner,
            masterKey: options.masterKey,
            checks: options.scope(lock.note() ?? ""),
            beforeMigrating: { version in
                let newest = Schema.supported.upperBound
                upgrade = SchemaUpgrade(from: version, to: newest)
                guard options.keepBeforeUpgrade > .zero else { return }
                upgrade?.copy = try copy.make(of: queue, to: newest, now: options.now())
            },
            // The note must be gone before the first write: a crash can leave a file that fits it by chance.
            beforeWriting: { try lock.write(note: "") }
        )
        let context = try Sealing.open(queue, options)
        // Moves the log of a crashed process into the database, so that it survives a power loss. Without room it
        // stays there.
        if hasLog, options.owner == .agent {
            try? queue.writeWithoutTransaction { _ = try $0.checkpoint(.full) }
        }
        let pageCheck = PageCheck(path: options.path, isSound ? .unneeded : .running, lock: lock)
        return OpenedDatabase(queue: queue, pageCheck: pageCheck, context: context, upgrade: upgrade)
    }

    /// Opens the database for reading, whatever another process does with it.
    static func beside(_ options: StoreOptions) throws -> OpenedDatabase {
        try DatabaseFile.mustExist(path: options.path)
        let queue = try DatabaseQueue(path: options.path, configuration: options.configuration)
        try queue.read { db in
            let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            guard Schema.supported.contains(found) else {
                throw StoreError.version(found: found, supported: Schema.supported)
            }
            try Sealing.check(db, version: found, options.masterKey)
        }
        let context = try Sealing.open(queue, options)
        return OpenedDatabase(queue: queue, pageCheck: PageCheck(path: options.path, .unneeded), context: context)
    }
}

extension StoreOptions {
    /// Reads every page of the database and opens it, beside an agent that can have it open. Nothing is locked or written.
    ///
    /// - Throws: ``StoreError/corrupt(detail:)`` for damage, ``StoreError/absent`` without a file, and what would keep an
    ///   agent from opening it.
    package func checkDatabase() async throws(StoreError) {
        var options = self
        options.reads = true
        do {
            try DatabaseFile.mustExist(path: path)
            try await PageCheck(path: path, .running).run()
            try OpenedDatabase.beside(options).queue.close()
        } catch { throw StoreError(error).naming(UpgradeCopy(path: path)) }
    }

    /// Reads the id of the master key of a database of any version, beside an agent that can have it open. Needs no key.
    ///
    /// - Returns: `nil` as the key if the database is not encrypted, and whether it has data of an account.
    /// - Throws: ``StoreError/absent`` if there is no file yet, or an empty one.
    package func storedMasterKey() throws(StoreError) -> (key: String?, hasData: Bool) {
        var options = self
        options.reads = true
        do {
            try DatabaseFile.mustExist(path: path)
            let queue = try DatabaseQueue(path: path, configuration: options.configuration)
            defer { try? queue.close() }
            return try queue.read { db in
                guard try db.tableExists("installation") else { throw StoreError.absent }
                // Versions before 5 have no encryption.
                guard try db.tableExists("sealing") else { return (nil, true) }
                return (try String.fetchOne(db, sql: "SELECT master_key FROM sealing"), try Sealing.hasData(db))
            }
        } catch { throw StoreError(error) }
    }
}
