import FoundationEssentials

/// A row with encrypted values, as it is stored.
struct SealedRow {
    /// The values of ``SealedTable/key``.
    let key: [SQLValue]
    /// The text that binds its values to it.
    let place: String
    /// The stored form of its account.
    let account: String?
    /// The values of ``SealedTable/columns``.
    let values: [SQLValue]
}

/// The rows of a table with encrypted values.
struct SealedRows {
    let db: Session

    /// The next rows of a table in the order of its key.
    func next(_ table: SealedTable, after key: [SQLValue]?, limit: Int) throws -> [SealedRow] {
        let columns = table.key.joined(separator: ", ")
        let marks = table.key.map { _ in "?" }.joined(separator: ", ")
        return try db.all(
            """
            SELECT *, \(table.row) AS sealed_place, \(table.account) AS sealed_account
            FROM \(table.name) \(key == nil ? "" : "WHERE (\(columns)) > (\(marks))") ORDER BY \(columns) LIMIT ?
            """,
            SQLArguments(key ?? []) + [limit]
        ) { row in
            SealedRow(
                key: try table.key.map { try row[$0] },
                place: try row["sealed_place"],
                account: try row["sealed_account"],
                values: try table.columns.map { try row[$0.name] }
            )
        }
    }

    /// Writes new values into a row.
    func write(_ values: [SQLValue], into row: SealedRow, of table: SealedTable) throws {
        let set = table.columns.map { "\($0.name) = ?" }.joined(separator: ", ")
        let find = table.key.map { "\($0) = ?" }.joined(separator: " AND ")
        try db.run("UPDATE \(table.name) SET \(set) WHERE \(find)", SQLArguments(values + row.key))
    }

    func delete(_ row: SealedRow, of table: SealedTable) throws {
        let find = table.key.map { "\($0) = ?" }.joined(separator: " AND ")
        try db.run("DELETE FROM \(table.name) WHERE \(find)", SQLArguments(row.key))
    }

    /// The stored form of a clear value.
    func sealedForm(_ value: SQLValue, _ column: SealedColumn, of row: SealedRow) throws -> SQLValue {
        switch value {
        case .text(let text):
            .text(try db.dataKeys.seal(Array(text.utf8), column, of: row.account, row: row.place).text)
        case .blob(let bytes): .blob(try db.dataKeys.seal(Array(bytes), column, of: row.account, row: row.place).blob)
        default: value
        }
    }

    func clearForm(_ value: SQLValue, _ column: SealedColumn, of row: SealedRow) throws -> SQLValue {
        guard !value.isNull else { return value }
        guard let sealed = SealedValue(value) else {
            if column.wasClear { return value }
            throw StoreError.sealed(.damaged)
        }
        let bytes = try db.dataKeys.open(sealed, column, row: row.place)
        return column.isBlob ? .blob(bytes) : .text(String(decoding: bytes, as: UTF8.self))
    }

    /// The clear values of a row, with ``SealedColumn/standIn`` for those that do not open, and the columns of these; `nil`
    /// if nothing is left of it.
    ///
    /// - Parameter lost: Counts the values that do not open, by column.
    func clearValues(
        of row: SealedRow,
        _ table: SealedTable,
        _ lost: inout [String: Int]
    ) throws -> (values: [SQLValue], damaged: Set<SealedColumn>)? {
        var values: [SQLValue] = []
        var damaged: Set<SealedColumn> = []
        var isLost = false
        for (value, column) in zip(row.values, table.columns) {
            if let clear = try ifReadable({ try clearForm(value, column, of: row) }) {
                values.append(clear)
                continue
            }
            damaged.insert(column)
            lost[column.rawValue, default: 0] += 1
            if let standIn = column.standIn { values.append(standIn) } else { isLost = true }
        }
        return isLost ? nil : (values, damaged)
    }
}

extension SealedValue {
    /// A value of a text or blob column; `nil` if it is not sealed.
    init?(_ value: SQLValue) {
        switch value {
        case .text(let text): self.init(text: text)
        case .blob(let bytes): self.init(blob: bytes)
        default: return nil
        }
    }
}
