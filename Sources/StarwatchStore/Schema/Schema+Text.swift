extension Schema {
    /// The statements that create a database or migrate it to the newest version, for its owner to run (R-STO-13).
    ///
    /// They are one transaction. The result equals the agent's own, including its migrator's table, so that the owner
    /// can hand the database over later.
    ///
    /// - Parameter version: The current `PRAGMA user_version`; 0 for a database without these tables.
    /// - Returns: `nil` if this program cannot migrate from the version.
    package static func statements(from version: Int) -> String? {
        let newest = supported.upperBound
        switch version {
        case 0:
            return "PRAGMA journal_mode = WAL;\n" + transaction(of: [tables, firstRows, installation, migrations])
        case 1..<newest:
            return transaction(of: changes.filter { $0.0 > version }.map { $1 + migration($0) })
        case newest: return ""
        default: return nil
        }
    }

    private static func transaction(of statements: [String]) -> String {
        "BEGIN IMMEDIATE;\n" + statements.joined() + "PRAGMA user_version = \(supported.upperBound);\nCOMMIT;\n"
    }

    /// The migrator's table, with every migration as done.
    static let migrations =
        "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);\n"
        + (1...supported.upperBound).map(migration).joined()

    private static func migration(_ version: Int) -> String {
        "INSERT INTO grdb_migrations (identifier) VALUES ('v\(version)');\n"
    }

    /// The agent uses the system's random generator. These statements use SQLite's.
    private static let installation = """
        INSERT INTO installation (id, instance_id, installation_key)
            VALUES (1, lower(hex(randomblob(16))), randomblob(32));

        """
}
