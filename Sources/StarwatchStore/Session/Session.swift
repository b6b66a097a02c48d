import FoundationEssentials
import GRDB
import GRDBSQLite
import StarwatchCore

/// The connection during one access, with the vault that seals its columns.
///
/// Only this file, ``SQLRow`` and what opens or checks a file names GRDB. Statements are prepared once: without that a backlog
/// takes 47 % more CPU time (`Benchmarks/poll backlog`, 2 cores AMD EPYC).
struct Session {
    private let database: Database
    let context: SessionContext

    init(database: Database, context: SessionContext) { (self.database, self.context) = (database, context) }

    var vault: Vault { context.vault }

    // MARK: - Changes

    /// Runs a cached statement. Only debug builds check the arguments, because the callers' statements are fixed.
    func run(_ sql: String, _ arguments: SQLArguments = []) throws { try statement(sql).run(arguments) }

    /// Runs a cached statement and returns the number of changed rows.
    func changed(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        try statement(sql).changed(arguments)
    }

    /// Runs a statement that ends with `RETURNING id`, and returns the id of the new row.
    func inserted(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        guard let id = try (values(sql, arguments) as [Int64]).first else { throw StoreError.damaged }
        return id
    }

    /// Runs statements without arguments that are not cached, such as `PRAGMA`.
    func execute(_ sql: String) throws { try database.execute(sql: sql) }

    /// A statement to run many times.
    func statement(_ sql: String) throws -> SQLStatement {
        SQLStatement(database: database, statement: try database.cachedStatement(sql: sql))
    }

    // MARK: - Rows

    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? {
        let statement = try bound(sql, arguments)
        return try Row.fetchOne(statement).map { SQLRow($0, SQLColumns(statement.columnNames)) }
    }

    /// The rows one by one. A row must not be kept, because the next one replaces it.
    func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRows {
        let statement = try bound(sql, arguments)
        return SQLRows(try Row.fetchCursor(statement), SQLColumns(statement.columnNames))
    }

    private func bound(_ sql: String, _ arguments: SQLArguments) throws -> Statement {
        let statement = try database.cachedStatement(sql: sql)
        try arguments.bind(to: statement)
        return statement
    }

    /// The value of every row.
    func all<Value>(
        _ sql: String,
        _ arguments: SQLArguments = [],
        _ value: (SQLRow) throws -> Value
    ) throws -> [Value] {
        let rows = try rows(sql, arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try value(row)) }
        return values
    }

    /// The only column of the first row; `nil` if there is no row, or if the column is null.
    func value<Value: SQLReadable>(_ sql: String, _ arguments: SQLArguments = []) throws -> Value? {
        let cursor = try Row.fetchCursor(bound(sql, arguments))
        return try withExtendedLifetime(cursor) { try cursor.next().flatMap { try Value?.read($0, 0) } }
    }

    /// The only column of every row.
    func values<Value: SQLReadable>(_ sql: String, _ arguments: SQLArguments = []) throws -> [Value] {
        try all(sql, arguments) { try $0.first() }
    }

    /// The number of rows that the connection has changed.
    var changes: Int { database.totalChangesCount }

    func integer(_ sql: String, _ arguments: SQLArguments = []) throws -> Int { try value(sql, arguments) ?? 0 }

    // MARK: - The file

    /// Moves the write-ahead log into the database and empties it.
    ///
    /// - Returns: Whether it is empty. Readers in other processes can prevent that.
    func checkpointAll() throws -> Bool { try database.checkpointAll() }

    func checkPages() throws { try database.checkPages() }
}

extension SessionContext {
    /// Runs the work of one access.
    ///
    /// - Parameter account: The account whose lease must not be lost.
    /// - Throws: ``StoreError/leaseLost`` if it was claimed here and then lost to another owner.
    func run<T>(_ body: (Session) throws -> T, on db: Database, lease account: DID? = nil) throws -> T {
        let session = Session(database: db, context: self)
        try vault.refresh(session)
        if let account, try !session.accounts.hasLease(of: account) { throw StoreError.leaseLost }
        if options.rehearses, db.isInsideTransaction {
            let pass = resealPass
            try session.execute("SAVEPOINT rehearsal")
            _ = try? body(session)
            try session.execute("ROLLBACK TO rehearsal; RELEASE rehearsal")
            failed()
            // It is of former transactions. Otherwise each would begin the pass anew.
            resealPass = pass
            try vault.refresh(session)
        }
        let result = try body(session)
        // Not in a `defer`: after an error the connection can be closed, and SQLite must not be asked.
        changedRows = db.totalChangesCount
        forgetOutdatedSnapshots()
        return result
    }
}

extension Session {
    /// Does `work`, and undoes it unless `keeps`, or if a value that comes from outside breaks a rule of the schema.
    ///
    /// - Returns: `false` if such a rule was broken.
    func attempt(keeps: Bool, _ work: () throws -> Void) throws -> Bool {
        try execute("SAVEPOINT attempt")
        var isPossible = true
        do {
            try work()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            isPossible = false
        } catch is UnusableValue {
            isPossible = false
        }
        if !isPossible || !keeps {
            try execute("ROLLBACK TO attempt")
            // The keys in memory can be among what was undone.
            vault.failed()
        }
        try execute("RELEASE attempt")
        return isPossible
    }
}

/// The error of a value from outside that cannot be stored.
struct UnusableValue: Error {}

/// A prepared statement.
struct SQLStatement {
    fileprivate let database: Database
    fileprivate let statement: Statement

    func run(_ arguments: SQLArguments) throws {
        try arguments.bind(to: statement)
        try statement.execute()
    }

    /// Runs the statement and returns the number of changed rows.
    func changed(_ arguments: SQLArguments) throws -> Int {
        try run(arguments)
        return database.changesCount
    }
}

/// The arguments of a statement, in their order.
struct SQLArguments: ExpressibleByArrayLiteral {
    private var values: [(any SQLArgument)?]

    init(arrayLiteral elements: (any SQLArgument)?...) { values = elements }

    init(_ values: [some SQLArgument]) { self.values = values }

    static func + (left: SQLArguments, right: SQLArguments) -> SQLArguments {
        var sum = left
        sum += right
        return sum
    }

    static func += (left: inout SQLArguments, right: SQLArguments) { left.values += right.values }

    /// Resets a statement and gives it these arguments.
    ///
    /// GRDB would make a value of each argument first, and a copy of each text: 46,000 instructions instead of 14,000 for a
    /// change of a backlog (`Benchmarks/poll backlog`).
    fileprivate func bind(to statement: Statement) throws {
        assert((try? statement.validateArguments(StatementArguments(values))) != nil, "wrong arguments: \(statement)")
        let statement = Self.cleared(statement)
        for index in values.indices {
            // A parameter without a value is null.
            guard let value = values[index] else { continue }
            guard value.give(to: statement, at: CInt(index + 1)) == SQLITE_OK else { throw StoreError.damaged }
        }
    }

    /// Resets a statement and removes its arguments. GRDB does that once, and then takes the arguments of every run as set.
    private static func cleared(_ statement: Statement) -> OpaquePointer {
        let pointer = statement.sqliteStatement
        if sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_RUN, 0) == 0 {
            statement.setUncheckedArguments([])
        } else {
            // The code is that of the former run.
            sqlite3_reset(pointer)
            sqlite3_clear_bindings(pointer)
        }
        return pointer
    }
}

protocol SQLArgument: DatabaseValueConvertible {
    /// Gives a copy of this value to the parameter with a number.
    ///
    /// - Returns: SQLite's code.
    func give(to statement: OpaquePointer, at index: CInt) -> CInt
}

extension SQLArgument {
    func give(to statement: OpaquePointer, at index: CInt) -> CInt { bind(to: statement, at: index) }
}

extension Bool: SQLArgument {}
extension Data: SQLArgument {}
extension Int: SQLArgument {}
extension Int64: SQLArgument {}
extension SQLValue: SQLArgument {}

extension String: SQLArgument {
    func give(to statement: OpaquePointer, at index: CInt) -> CInt {
        let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var text = self
        return text.withUTF8 { bytes in
            // Without an address SQLite would bind null.
            guard !bytes.isEmpty else { return sqlite3_bind_text(statement, index, "", 0, copying) }
            return bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(statement, index, $0.baseAddress, CInt($0.count), copying)
            }
        }
    }
}

/// A JSON array of row ids, for `json_each`.
func jsonArray(_ ids: [Int64]) -> String { "[" + ids.map(String.init).joined(separator: ",") + "]" }

func jsonArray(_ texts: [String]) -> String { StableJSON.text(of: texts) }
