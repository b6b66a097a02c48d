import FoundationEssentials
import GRDB
import StarwatchCore

/// Statements are prepared once: without that a backlog takes 47 % more CPU time (`Benchmarks/poll backlog`, 2 cores AMD EPYC).
extension Session {
    /// Runs a cached statement. The arguments are not checked, because the callers' statements are fixed.
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        let statement = try cachedStatement(sql: sql)
        statement.setUncheckedArguments(arguments)
        try statement.execute()
    }

    /// Runs a cached statement and returns the number of changed rows.
    func changed(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        try run(sql, arguments)
        return changesCount
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> RowCursor {
        try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
    }

    /// The value of every row. `value` must not keep the row, which is reused.
    func all<Value>(
        _ sql: String,
        _ arguments: StatementArguments = [],
        _ value: (Row) throws -> Value
    ) throws -> [Value] {
        let rows = try rows(sql, arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try value(row)) }
        return values
    }

    /// The stream in the columns `account, server, poll` that begin at `index`.
    func stream(_ row: Row, _ index: Int) throws -> StreamKey {
        guard let poll = PollName(row[index + 2] as String) else { throw Row.damaged }
        return StreamKey(account: try account(row[index]), server: row[index + 1], poll: poll)
    }

    func integer(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try Int.fetchOne(cachedStatement(sql: sql), arguments: arguments) ?? 0
    }
}

extension Row {
    func time(_ index: Int) -> Timestamp { Timestamp(milliseconds: self[index]) }

    func optionalTime(_ index: Int) -> Timestamp? {
        (self[index] as Int64?).map { Timestamp(milliseconds: $0) }
    }

    /// - Throws: ``StoreError/corrupt(detail:)`` for a text that no version of this program writes.
    func jwtID(_ index: Int) throws -> JWTID {
        guard let id = JWTID(self[index] as String) else { throw Self.damaged }
        return id
    }

    func optionalJWTID(_ index: Int) throws -> JWTID? {
        guard let text = self[index] as String? else { return nil }
        guard let id = JWTID(text) else { throw Self.damaged }
        return id
    }

    func word<Word: RawRepresentable<String>>(_ index: Int, as type: Word.Type = Word.self) throws -> Word {
        guard let word = Word(rawValue: self[index]) else { throw Self.damaged }
        return word
    }

    func optionalWord<Word: RawRepresentable<String>>(_ index: Int, as type: Word.Type = Word.self) throws -> Word? {
        hasNull(atIndex: index) ? nil : try word(index)
    }

    func bytes(_ index: Int) -> [UInt8] { [UInt8](self[index] as Data) }

    static var damaged: StoreError { .corrupt(detail: "a stored value is invalid") }
}

/// A JSON array of row ids, for `json_each`.
func jsonArray(_ ids: [Int64]) -> String {
    "[" + ids.map(String.init).joined(separator: ",") + "]"
}

/// A JSON array of texts.
func jsonArray(_ texts: [String]) throws -> String {
    String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
}

extension [UInt8] {
    /// The bytes as an SQLite blob.
    var blob: Data { Data(self) }
}
