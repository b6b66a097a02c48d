import GRDBSQLite

/// Bit of a stored value that changed without a write.
enum FlippedBit {
    /// Flips a bit of an encrypted value of a pending row, while no agent runs.
    ///
    /// - Parameter pick: Returns a random number below its argument.
    /// - Returns: The identifier of the row's change; `nil` if no row is pending, or the database cannot be opened.
    static func flip(at path: String, pick: (Int) -> Int) -> String? {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { return nil }
        let column = ["plan_id", "name"][pick(2)]
        let rows = pendingRows(connection, column)
        guard !rows.isEmpty else { return nil }
        let row = rows[pick(rows.count)]
        // Not at the end, where base64 has bits without a meaning.
        let index = pick(row.value.count / 2)
        var value = row.value
        value[index] ^= 1 << UInt8(pick(6))
        return update(connection, column, of: row.number, to: value) ? row.id : nil
    }

    private typealias PendingRow = (number: Int64, id: String, value: [UInt8])

    private static func pendingRows(_ connection: OpaquePointer?, _ column: String) -> [PendingRow] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let sql = """
            SELECT id, jwt_id, \(column) FROM notification_outbox
            WHERE state = 'pending' AND \(column) IS NOT NULL ORDER BY id
            """
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return [] }
        var rows: [PendingRow] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append((sqlite3_column_int64(statement, 0), text(statement, 1), Array(text(statement, 2).utf8)))
        }
        return rows
    }

    private static func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
    }

    private static func update(
        _ connection: OpaquePointer?,
        _ column: String,
        of row: Int64,
        to value: [UInt8]
    ) -> Bool {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let sql = "UPDATE notification_outbox SET \(column) = CAST(? AS TEXT) WHERE id = ?"
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return false }
        return value.withUnsafeBytes { bytes in
            // The bytes outlive the statement's only step.
            sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
            sqlite3_bind_int64(statement, 2, row)
            return sqlite3_step(statement) == SQLITE_DONE && sqlite3_changes(connection) == 1
        }
    }
}
