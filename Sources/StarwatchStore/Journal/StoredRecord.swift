import GRDB
package import StarwatchCore

/// The journal and the log of a database that no store has open. It reads beside a running agent, and writes nothing.
extension StoreError {
    /// The description for a command that only reads: a missing database is not its to create.
    package var forReaders: String {
        self == .absent
            ? "there is no database; check its path, or whether an agent has run with it" : description
    }
}

package enum StoredRecord {
    /// The entries and lines since a time, each in the order in which they were made.
    package struct Content: Sendable {
        package var journal: [JournalEntry] = []
        package var lines: [LogEntry] = []

        package init() {}
    }

    /// The most entries of a kind that are read.
    static let limit = 20_000

    /// Reads a database.
    ///
    /// - Throws: ``StoreError`` if there is none, if it is damaged, locked or of another version.
    package static func read(path: String, since: Timestamp) throws(StoreError) -> Content {
        try DatabaseFile.mustExist(path: path)
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(2)
            let database = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? database.close() }
            return try database.unsafeRead { db in try read(db, since: since) }
        } catch {
            throw StoreError(error)
        }
    }

    private static func read(_ db: Database, since: Timestamp) throws -> Content {
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard Schema.supported.contains(found) else {
            throw StoreError.version(found: found, supported: Schema.supported)
        }
        var content = Content()
        let arguments: StatementArguments = [since.milliseconds, limit]
        for row in try Row.fetchAll(
            db,
            sql: """
                SELECT created_at, kind, actor, verb, target, result, detail FROM journal
                WHERE created_at >= ? ORDER BY id DESC LIMIT ?
                """,
            arguments: arguments
        ).reversed() {
            guard let at = row["created_at"] as Int64?, let actor = row["actor"] as String?,
                let kind = (row["kind"] as String?).flatMap(JournalKind.init(rawValue:)),
                let result = row["result"] as String?
            else { throw StoreError.damaged }
            content.journal.append(
                JournalEntry(
                    at: Timestamp(milliseconds: at),
                    kind,
                    by: actor,
                    verb: row["verb"],
                    target: row["target"],
                    result: result,
                    detail: row["detail"]
                )
            )
        }
        for row in try Row.fetchAll(
            db,
            sql: """
                SELECT created_at, level, run_id, line FROM log_entries
                WHERE created_at >= ? ORDER BY id DESC LIMIT ?
                """,
            arguments: arguments
        ).reversed() {
            guard let at = row["created_at"] as Int64?, let line = row["line"] as String?,
                let level = (row["level"] as Int?).flatMap(LogLevel.init(rawValue:))
            else { throw StoreError.damaged }
            content.lines.append(
                LogEntry(at: Timestamp(milliseconds: at), level: level, runID: row["run_id"], line: line)
            )
        }
        return content
    }
}
