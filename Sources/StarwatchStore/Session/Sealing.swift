import FoundationEssentials
import GRDB
import StarwatchCore

/// The checks of a database's encryption when it is opened.
enum Sealing {
    /// Refuses a database whose encryption does not fit the master key. Reads only.
    ///
    /// - Parameter version: The schema version of the database.
    static func check(_ db: Database, version: Int, _ master: MasterKey?) throws {
        let found = version >= 5 ? try String.fetchOne(db, sql: "SELECT master_key FROM sealing") : nil
        switch (found, master) {
        case (nil, nil): return
        case (_?, nil): throw StoreError.sealed(.noMasterKey)
        case (nil, _?):
            if version > 0, try hasData(db) { throw StoreError.sealed(.notEncrypted) }
        case (let found?, let master?):
            if found != master.id { throw StoreError.sealed(.otherMasterKey(found: found, given: master.id)) }
        }
    }

    /// Opens the keys of the database, or makes them if it is new.
    static func open(_ database: DatabaseQueue, _ options: StoreOptions) throws -> SessionContext {
        let context = SessionContext(options)
        guard let master = options.masterKey else { return context }
        // A power loss must not undo the first keys: pseudonyms depend on them.
        let state = try database.writeDurably { db in
            let state = try String.fetchOne(db, sql: "SELECT state FROM sealing")
            let session = Session(database: db, context: context)
            if state != nil {
                try context.vault.load(session, master)
            } else {
                // A new key, because the one that the migration wrote is still in the write-ahead log.
                try context.vault.create(session, master, installation: Data(options.newKey()))
                try db.execute(sql: "UPDATE installation SET installation_key = zeroblob(32)")
            }
            return state
        }
        if state == "cleaning", !options.reads { try clean(database) }
        return context
    }

    /// Rewrites the file after its encryption, so that no cleartext is left in free pages and in the write-ahead log.
    static func clean(_ database: DatabaseQueue) throws {
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "VACUUM")
            // While another program reads the database, its log keeps the former pages.
            guard try db.checkpointAll() else { throw StoreError.sealed(.notCleaned) }
            try db.execute(sql: "UPDATE sealing SET state = 'sealed'")
        }
    }

    /// Whether the database has data of an account.
    static func hasData(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM settings) OR EXISTS (SELECT 1 FROM streams)") ?? true
    }
}

extension DatabaseQueue {
    /// Writes one transaction that a power loss cannot undo.
    ///
    /// Other transactions are safe from it when the write-ahead log has moved into the database.
    func writeDurably<Value>(_ work: (Database) throws -> Value) throws -> Value {
        try writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        defer { try? writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") } }
        return try write(work)
    }
}

extension Database {
    /// Moves the write-ahead log into the database and empties it.
    ///
    /// - Returns: Whether it is empty. Readers in other processes can prevent that.
    @discardableResult
    func checkpointAll() throws -> Bool {
        try Row.fetchOne(self, sql: "PRAGMA wal_checkpoint(TRUNCATE)").map { $0[0] == 0 } ?? false
    }
}
