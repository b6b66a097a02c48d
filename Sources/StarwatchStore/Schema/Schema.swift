import GRDB

/// The schema and its versions. `PRAGMA user_version` is the version.
package enum Schema {
    /// The versions that a store works with. The agent migrates older ones.
    package static let supported = 10...10
    /// The version of the first release, which is the oldest that can be migrated.
    package static let oldest = 9

    /// The rows of a new database, but for its installation.
    static let firstRows = """
        INSERT INTO active_identity (id) VALUES (1);
        INSERT INTO ledger_samples VALUES (0, 0, 0, 0, 0);

        """

    /// The condition of streams `s` of an account that work is done for.
    ///
    /// A subquery, because SQLite would read all accounts for a join with the view.
    static let isActive = "EXISTS (SELECT 1 FROM identities i WHERE i.account = s.account)"

    /// The condition of `idx_outbox_open`, for queries that name several states.
    static let isOpen =
        "(state = 'pending' OR state = 'claimed' OR state = 'delivered' OR state = 'dead' OR state = 'evicted')"

    /// The condition of rows that were cancelled with an identity that has returned. The server sends them again, and
    /// no sink has them. Rows that an operator discarded or a sink accepted still have a notification. Rows skipped by
    /// the bootstrap after the return are not above the watermark.
    static let isOpenAgain = isOpenAgain(of: "notification_outbox")

    /// - Parameter rows: The name of the outbox in the statement.
    static func isOpenAgain(of rows: String) -> String {
        """
        (\(rows).state = 'cancelled' AND \(rows).notification_id IS NULL AND \(rows).reason IS NULL
            AND \(rows).jwt_id > coalesce((SELECT w.watermark
            FROM streams s JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll
            WHERE s.id = \(rows).stream_id), ''))
        """
    }

    /// The condition of `idx_deliveries_lost`.
    static let isLost = "state IN ('rejected', 'given_up')"

    /// The rows of each notification, now and before, also of those that it brings to a sink.
    static let announcements = """
        (SELECT id AS row_id, notification_id FROM notification_outbox WHERE notification_id IS NOT NULL
            UNION SELECT row_id, notification_id FROM former_states
            WHERE row_id IS NOT NULL AND notification_id IS NOT NULL
            UNION SELECT o.id, n.id FROM deliveries d JOIN notifications n ON n.token = d.carried_by
            JOIN notification_outbox o ON o.notification_id = d.notification_id WHERE d.carried_by IS NOT NULL)
        """

    /// Creates the tables or migrates them to the newest version; for a host's database, checks the version.
    ///
    /// - Parameters:
    ///   - scope: The pages to check. Everything is checked before a migration and before the file is rewritten.
    ///   - beforeMigrating: Called after all checks, with the version of the database, if that is older.
    ///   - beforeWriting: Called after that.
    /// - Returns: Whether every page is known to be sound.
    @discardableResult
    static func open(
        _ database: DatabaseQueue,
        owner: StoreOwner,
        masterKey: MasterKey? = nil,
        checks scope: PageCheckScope = .all,
        beforeMigrating: (_ version: Int) throws -> Void = { _ in },
        beforeWriting: () throws -> Void = {}
    ) throws -> Bool {
        let found = try database.unsafeRead { db in try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }
        if (1..<oldest).contains(found) { throw StoreError.tooOld(found: found, oldest: oldest) }
        // The agent does not migrate a host's database.
        let isTooOld = owner == .host && found < supported.lowerBound
        if isTooOld || found > supported.upperBound { throw StoreError.version(found: found, supported: supported) }
        try database.unsafeRead { db in try Sealing.check(db, version: found, masterKey) }
        let isSound = try found == 0 || database.unsafeRead { db in try db.check(scope, version: found) }
        switch owner {
        case .host: try beforeWriting()
        case .agent:
            if try found == 0 && database.unsafeRead(isForeign) { throw StoreError.foreign }
            if found > 0, found < supported.upperBound { try beforeMigrating(found) }
            try beforeWriting()
            // Before the change of the journal mode, so that a creation that fails leaves the file as it was.
            if found == 0 { try create(database) }
            // After the checks: the journal mode is stored in the file, and a rejected database must stay unchanged.
            try database.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = WAL") }
            if found > 0, found < supported.upperBound { try migrator.migrate(database) }
        }
        return isSound
    }

    /// The version of a database that is only read.
    ///
    /// - Throws: ``StoreError/version(found:supported:copy:)`` for one that a store does not work with.
    static func supportedVersion(of db: Database) throws -> Int {
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard supported.contains(found) else { throw StoreError.version(found: found, supported: supported) }
        return found
    }

    /// Creates the database of a new agent without opening a store.
    ///
    /// - Throws: An error of SQLite.
    package static func makeDatabase(at path: String) throws {
        let database = try DatabaseQueue(path: path)
        try open(database, owner: .agent)
        try database.close()
    }

    /// Whether another program uses the database. An empty table of migrations does not make it foreign: former versions
    /// created that in a transaction of its own, and could be killed after it.
    private static func isForeign(_ db: Database) throws -> Bool {
        let others = "SELECT count(*) FROM sqlite_schema WHERE tbl_name <> 'grdb_migrations'"
        guard try Int.fetchOne(db, sql: others) == 0 else { return true }
        guard try db.tableExists("grdb_migrations") else { return false }
        return try Int.fetchOne(db, sql: "SELECT count(*) FROM grdb_migrations") != 0
    }

    private static func create(_ database: DatabaseQueue) throws {
        try database.writeDurably { db in
            if try !db.tableExists("grdb_migrations") { try db.execute(sql: migratorTable) }
            try db.execute(sql: Tables.all + firstRows + migratorRows)
            var generator = SystemRandomNumberGenerator()
            let key = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let instance = (0..<16).map { _ in
                let byte = UInt8.random(in: 0...255, using: &generator)
                return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }
            try db.execute(
                sql: "INSERT INTO installation (id, instance_id, installation_key) VALUES (1, ?, ?)",
                arguments: [instance.joined(), key.blob]
            )
            try db.execute(sql: "PRAGMA user_version = \(supported.upperBound)")
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (version, statements) in migrations {
            migrator.registerMigration("v\(version)") { db in
                try db.execute(sql: statements)
                try db.execute(sql: "PRAGMA user_version = \(version)")
            }
        }
        return migrator
    }
}

/// The pages that are checked before the database is used.
enum PageCheckScope {
    /// None: the last agent closed the database with all pages checked.
    case none
    /// Those of the tables that decide what is fetched, acknowledged and signed. They are small. A ``PageCheck`` follows.
    /// If the database has no more pages than `atOnce`, all.
    case deciding(atOnce: Int)
    case all

    /// Tables whose rows decide, and whose size does not grow with the changes.
    static let deciding = [
        "account_sinks", "accounts", "ack_batches", "active_identity", "data_keys", "host_watermarks", "installation",
        "leases",
        "ledger", "ledger_totals", "list_states", "poll_schedules",
        "removed_accounts", "request_windows", "sealed_accounts", "sealing", "servers", "settings", "signing_keys",
        "streams", "watermarks",
    ]
}

extension Database {
    /// Checks pages of a database with a schema.
    ///
    /// - Returns: Whether every page is known to be sound.
    func check(_ scope: PageCheckScope, version: Int) throws -> Bool {
        switch try version < Schema.supported.upperBound || isBeingCleaned ? .all : scope {
        case .none: return true
        case .deciding(let atOnce) where try pageCount > atOnce:
            for table in PageCheckScope.deciding { try checkPages(of: table) }
            return false
        case .deciding, .all:
            try checkPages()
            return true
        }
    }

    private var pageCount: Int { get throws { try Int.fetchOne(self, sql: "PRAGMA page_count") ?? 0 } }

    /// Whether the next step after opening is to rewrite the whole file.
    private var isBeingCleaned: Bool {
        get throws { try String.fetchOne(self, sql: "SELECT state FROM sealing") == "cleaning" }
    }

    /// Checks the structure of every page, or of those of one table and its indexes.
    ///
    /// - Throws: ``StoreError/corrupt(detail:)``.
    func checkPages(of table: String? = nil) throws {
        let argument = table ?? "1"
        guard try String.fetchOne(self, sql: "PRAGMA quick_check(\(argument))") == "ok" else {
            throw StoreError.corrupt(detail: "the check of its pages failed")
        }
    }
}

extension Schema {
    /// The statements that create a database or migrate it to the newest version, for its owner to run.
    ///
    /// They are one transaction. The result equals the agent's own, including its migrator's table, so that the owner
    /// can hand the database over later.
    ///
    /// - Parameter version: The current `PRAGMA user_version`; 0 for a database without these tables and without a
    ///   `grdb_migrations` of the owner.
    /// - Returns: `nil` if this program cannot migrate from the version.
    package static func statements(from version: Int) -> String? {
        let newest = supported.upperBound
        switch version {
        case 0:
            let steps = [migratorTable, Tables.all, firstRows, installation, migratorRows]
            return "PRAGMA journal_mode = WAL;\n" + transaction(of: steps)
        case oldest..<newest:
            let later = migrations.filter { $0.version > version }
            return transaction(of: later.map { $0.statements + migratorRow(of: $0.version) })
        case newest: return ""
        default: return nil
        }
    }

    private static func transaction(of statements: [String]) -> String {
        "BEGIN IMMEDIATE;\n" + statements.joined() + "PRAGMA user_version = \(supported.upperBound);\nCOMMIT;\n"
    }

    /// The table of GRDB's migrator.
    static let migratorTable = "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);\n"

    /// The migrator's rows of a new database, so that it runs no migration again. Version 1 was a migration too.
    static let migratorRows = (1...supported.upperBound).map(migratorRow).joined()

    private static func migratorRow(of version: Int) -> String {
        "INSERT INTO grdb_migrations (identifier) VALUES ('v\(version)');\n"
    }

    /// The agent uses the system's random generator. These statements use SQLite's.
    private static let installation = """
        INSERT INTO installation (id, instance_id, installation_key)
            VALUES (1, lower(hex(randomblob(16))), randomblob(32));

        """
}
