import StarwatchStore

/// The database of a host application that owns it (``StorageOptions/Owner/host``).
///
/// Such a database is never migrated by the agent: its owner runs ``statements(from:)`` when it makes or updates it.
public enum HostDatabase {
    /// The values of `PRAGMA user_version` that this version of the library can use. Others are refused, and nothing is
    /// written.
    public static var versions: ClosedRange<Int> { Schema.supported }

    /// The SQL that brings a database to the newest version, in one transaction.
    ///
    /// - Parameter version: Its `user_version` now; 0 for one without these tables.
    /// - Returns: Nothing to do is an empty text. `nil` for a version that is not known.
    public static func statements(from version: Int = 0) -> String? { Schema.statements(from: version) }
}
