extension Schema {
    /// The statements that bring a database from a version to the newest, for its owner to run (R-STO-13).
    ///
    /// They are one transaction. What they make is what the agent makes, its migrator's own table included, so that
    /// the owner may hand the database over later.
    ///
    /// - Parameter version: What `PRAGMA user_version` says now; 0 for a database without these tables.
    /// - Returns: `nil` for a version that this program cannot migrate from.
    package static func statements(from version: Int) -> String? {
        let steps = [version1 + installation, version2]
        guard (0...steps.count).contains(version) else { return nil }
        guard version < steps.count else { return "" }
        var text = version == 0 ? "PRAGMA journal_mode = WAL;\n" : ""
        text += "BEGIN IMMEDIATE;\n"
        if version == 0 { text += "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);\n" }
        for (index, step) in steps.enumerated().dropFirst(version) {
            text += step.hasSuffix("\n") ? step : step + "\n"
            text += "INSERT INTO grdb_migrations (identifier) VALUES ('v\(index + 1)');\n"
        }
        return text + "PRAGMA user_version = \(steps.count);\nCOMMIT;\n"
    }

    /// The agent draws these from the system's generator itself; here SQLite does.
    private static let installation = """

        INSERT INTO installation (id, instance_id, installation_key)
            VALUES (1, lower(hex(randomblob(16))), randomblob(32));

        """
}
