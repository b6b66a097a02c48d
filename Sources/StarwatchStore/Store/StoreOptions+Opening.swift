import GRDB
import StarwatchCore

/// The parts of a store whose database was just opened. `upgrade` is `nil` if the database had the newest version.
typealias OpenedDatabase = (
    queue: DatabaseQueue, pageCheck: PageCheck, context: SessionContext, upgrade: SchemaUpgrade?
)

extension StoreOptions {
    /// Opens the database for an agent, which no other can then open.
    func openOwned() throws -> OpenedDatabase {
        switch owner {
        case .agent: try DatabaseFile.prepare(path: path)
        case .host: try DatabaseFile.mustExist(path: path)
        }
        let lock = try FileLock(path: path + ".lock")
        let hasLog = DatabaseFile.bytes(path: path + "-wal") > 0
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let copy = UpgradeCopy(path: path)
        if owner == .agent { copy.removePartial() }
        var upgrade: SchemaUpgrade?
        let isSound = try Schema.open(
            queue,
            owner: owner,
            masterKey: masterKey,
            checks: scope(lock.note() ?? ""),
            beforeMigrating: { version in
                let newest = Schema.supported.upperBound
                upgrade = SchemaUpgrade(from: version, to: newest)
                guard keepBeforeUpgrade > .zero else { return }
                upgrade?.copy = try copy.make(of: queue, to: newest, now: now())
            },
            // The note must be gone before the first write: a crash can leave a file that fits it by chance.
            beforeWriting: { try lock.write(note: "") }
        )
        let context = try Sealing.open(queue, self)
        // Moves the log of a crashed process into the database, so that it survives a power loss. Without room it
        // stays there.
        if hasLog, owner == .agent {
            try? queue.writeWithoutTransaction { _ = try $0.checkpoint(.full) }
        }
        let pageCheck = PageCheck(path: path, isSound ? .unneeded : .running, lock: lock)
        return (queue, pageCheck, context, upgrade)
    }

    /// Opens the database for reading, whatever another process does with it.
    func openBeside() throws -> OpenedDatabase {
        try DatabaseFile.mustExist(path: path)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.read { db in try Sealing.check(db, version: Schema.supportedVersion(of: db), masterKey) }
        let context = try Sealing.open(queue, self)
        return (queue, PageCheck(path: path, .unneeded), context, nil)
    }

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
            try options.openBeside().queue.close()
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
