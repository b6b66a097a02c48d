import StarwatchStore

/// The database of a host application that owns it (``StorageOptions/Owner/host``).
///
/// The agent never migrates such a database. Its owner runs ``statements(from:)`` to create or update it.
public enum HostDatabase {
    /// The values of `PRAGMA user_version` that this version of the library supports. Other versions are rejected, and
    /// nothing is written.
    public static var versions: ClosedRange<Int> { Schema.supported }

    /// The SQL that brings a database to the newest version, in one transaction.
    ///
    /// - Parameter version: The present `user_version`; 0 for a database without these tables.
    /// - Returns: The SQL; empty if there is nothing to do, `nil` for an unknown version.
    public static func statements(from version: Int = 0) -> String? { Schema.statements(from: version) }

    /// Encrypts Starwatch's values in a database that has been used without a key, with the key of
    /// ``AgentOptions/security``. No agent may run. The host's own tables stay as they are.
    ///
    /// The file is rewritten (`VACUUM`), which can change the `rowid` of tables without an `INTEGER PRIMARY KEY`. A database
    /// without data of an account needs no call: the agent's first start with a key encrypts it.
    ///
    /// - Throws: ``AgentError`` with the reason.
    public static func encrypt(_ options: AgentOptions) async throws(AgentError) {
        _ = try await DatabaseEncryption.encrypt(options, by: "agent")
    }
}
