extension Schema {
    /// The statements that create a database or migrate it to the newest version, for its owner to run (R-STO-13).
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
        case 1..<newest:
            let later = Migrations.all.filter { $0.version > version }
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
