extension Schema {
    /// The statements that migrate a database to the newest version, for its owner to run (R-STO-13).
    ///
    /// They are one transaction. The result equals the agent's own, including its migrator's table, so that the owner
    /// can hand the database over later.
    ///
    /// - Parameter version: The current `PRAGMA user_version`; 0 for a database without these tables.
    /// - Returns: `nil` if this program cannot migrate from the version.
    package static func statements(from version: Int) -> String? {
        var steps = [version1 + installation, version2, version3, version4, version5, version6]
        if version == 0 { (steps[0], steps[5]) = (version1WithComparisons + installation, "") }
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

    /// The agent uses the system's random generator. These statements use SQLite's.
    private static let installation = """

        INSERT INTO installation (id, instance_id, installation_key)
            VALUES (1, lower(hex(randomblob(16))), randomblob(32));

        """
}
