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
}
