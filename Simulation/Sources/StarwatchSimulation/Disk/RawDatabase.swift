import GRDBSQLite

/// A connection that reads and changes a database beside the agents.
final class RawDatabase {
    let path: String
    private let connection: OpaquePointer

    /// - Returns: `nil` if it cannot be opened.
    init?(at path: String) {
        var connection: OpaquePointer?
        let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil)
        guard code == SQLITE_OK, let connection else {
            sqlite3_close(connection)
            return nil
        }
        (self.path, self.connection) = (path, connection)
    }

    deinit { sqlite3_close(connection) }

    /// The rows of a query as texts, with `|` between the columns; none if it fails.
    @discardableResult
    func rows(_ sql: String, _ argument: String? = nil) -> [String] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return [] }
        let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        if let argument { sqlite3_bind_text(statement, 1, argument, -1, copying) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let columns = (0..<sqlite3_column_count(statement)).map { column in
                sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "-"
            }
            rows.append(columns.joined(separator: "|"))
        }
        return rows
    }
}
