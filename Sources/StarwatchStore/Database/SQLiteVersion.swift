import GRDB

/// The version of SQLite in use.
package enum SQLiteVersion {
    /// Such as `3.40.1`; `nil` if SQLite does not work.
    package static var current: String? {
        try? DatabaseQueue().read { db in try String.fetchOne(db, sql: "SELECT sqlite_version()") }
    }
}
