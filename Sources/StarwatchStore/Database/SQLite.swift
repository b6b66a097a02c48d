import GRDB

extension StoreError {
    /// Converts any error of a database access.
    init(_ error: any Error) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self = .io(detail: String(describing: type(of: error)))
            return
        }
        let detail = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_FULL: self = .full
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .corrupt(detail: detail)
        default: self = .io(detail: detail)
        }
    }
}

/// The version of SQLite in use.
package enum SQLiteVersion {
    /// Such as `3.40.1`; `nil` if SQLite does not work.
    package static var current: String? {
        try? DatabaseQueue().read { db in try String.fetchOne(db, sql: "SELECT sqlite_version()") }
    }
}
