import GRDB

/// The connection during one access, with the vault that seals its columns.
struct Session {
    let database: Database
    let vault: Vault

    var changesCount: Int { database.changesCount }
    var lastInsertedRowID: Int64 { database.lastInsertedRowID }
    var totalChangesCount: Int { database.totalChangesCount }

    func cachedStatement(sql: String) throws -> Statement { try database.cachedStatement(sql: sql) }
    func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        try database.execute(sql: sql, arguments: arguments)
    }
    func checkPages() throws { try database.checkPages() }
}
