import FoundationEssentials
import GRDB

/// A row with encrypted values, as it is stored.
struct SealedRow {
    /// The values of ``SealedTable/key``.
    let key: [DatabaseValue]
    /// The text that binds its values to it.
    let place: String
    /// The stored form of its account.
    let account: String?
    /// The values of ``SealedTable/columns``.
    let values: [DatabaseValue]
}

extension Session {
    /// The next rows of a table in the order of its key.
    func sealedRows(_ table: SealedTable, after key: [DatabaseValue]?, limit: Int) throws -> [SealedRow] {
        let columns = table.key.joined(separator: ", ")
        let marks = table.key.map { _ in "?" }.joined(separator: ", ")
        var arguments: StatementArguments = []
        if let key { arguments += StatementArguments(key) }
        arguments += [limit]
        return try all(
            """
            SELECT \(columns), \(table.row), \(table.account), \(table.columns.map(\.name).joined(separator: ", "))
            FROM \(table.name) \(key == nil ? "" : "WHERE (\(columns)) > (\(marks))") ORDER BY \(columns) LIMIT ?
            """,
            arguments
        ) { row in
            let count = table.key.count
            return SealedRow(
                key: (0..<count).map { row[$0] },
                place: row[count],
                account: row[count + 1],
                values: table.columns.indices.map { row[count + 2 + $0] }
            )
        }
    }

    /// Writes new values into a row.
    func write(_ values: [DatabaseValue], into row: SealedRow, of table: SealedTable) throws {
        let set = table.columns.map { "\($0.name) = ?" }.joined(separator: ", ")
        let find = table.key.map { "\($0) = ?" }.joined(separator: " AND ")
        try run("UPDATE \(table.name) SET \(set) WHERE \(find)", StatementArguments(values + row.key))
    }

    func delete(_ row: SealedRow, of table: SealedTable) throws {
        let find = table.key.map { "\($0) = ?" }.joined(separator: " AND ")
        try run("DELETE FROM \(table.name) WHERE \(find)", StatementArguments(row.key))
    }

    /// The stored form of a clear value.
    func sealedForm(_ value: DatabaseValue, _ column: SealedColumn, of row: SealedRow) throws -> DatabaseValue {
        switch value.storage {
        case .string(let text): try seal(Array(text.utf8), column, row.account, row.place).text.databaseValue
        case .blob(let bytes): try seal(Array(bytes), column, row.account, row.place).blob.databaseValue
        default: value
        }
    }

    /// The clear value of a stored form.
    func clearForm(_ value: DatabaseValue, _ column: SealedColumn, of row: SealedRow) throws -> DatabaseValue {
        guard !value.isNull else { return value }
        guard let sealed = SealedValue(value) else { throw StoreError.sealed(.damaged) }
        let bytes = try open(sealed, column, row.place)
        return column.isBlob ? bytes.databaseValue : String(decoding: bytes, as: UTF8.self).databaseValue
    }
}

extension SealedValue {
    /// A value of a text or blob column; `nil` if it is not sealed.
    init?(_ value: DatabaseValue) {
        switch value.storage {
        case .string(let text): self.init(text: text)
        case .blob(let bytes): self.init(blob: bytes)
        default: return nil
        }
    }
}
