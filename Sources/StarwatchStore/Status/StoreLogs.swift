package import StarwatchCore

/// The levels of a stored line, in rising order.
package enum LogLevel: Int, Sendable, CaseIterable, SQLReadable { case debug, info, warn, error }

/// A formatted and redacted log line.
package struct LogEntry: Sendable, Hashable {
    package let at: Timestamp
    package let level: LogLevel
    /// The run that the line belongs to; `nil` for none.
    package let runID: String?
    package let line: String

    package init(at: Timestamp, level: LogLevel, runID: String? = nil, line: String) {
        (self.at, self.level, self.runID, self.line) = (at, level, runID, line)
    }
}

/// A selection of stored lines. A `nil` property does not restrict.
package struct LogFilter: Sendable, Hashable {
    package var since: Timestamp?
    /// The lowest level.
    package var level = LogLevel.debug
    package var runID: String?
    /// Only lines after this one, the oldest first; `nil` selects the newest lines.
    package var after: Int64?
    package var limit = 1000

    package init() {}
}

/// Debug and info lines are kept while they are among the last 1,000 lines; warnings and errors for 90 days,
/// at most ``StoreLogs/keptWarnings`` warnings.
package struct StoreLogs: Sendable {
    let store: Store

    /// The maximum number of warnings.
    static let keptWarnings = 10_000

    /// Appends lines in one transaction, and drops debug and info lines beyond the last 1,000 lines.
    package func append(_ entries: [LogEntry]) async throws(StoreError) {
        guard !entries.isEmpty else { return }
        try await store.write(.log) { db in
            for entry in entries {
                try db.run(
                    "INSERT INTO log_entries (created_at, level, run_id, line) VALUES (?, ?, ?, ?)",
                    [entry.at.milliseconds, entry.level.rawValue, entry.runID, entry.line]
                )
            }
            try db.run(
                """
                DELETE FROM log_entries WHERE level IN (0, 1) AND id <=
                    (SELECT id FROM log_entries ORDER BY id DESC LIMIT 1 OFFSET 1000)
                """
            )
        }
    }

    /// The selected lines with their positions, in the order in which they were logged.
    package func list(_ filter: LogFilter) async throws(StoreError) -> [(id: Int64, entry: LogEntry)] {
        try await store.direct(.read) { db in try Self.list(in: db, filter) }
    }

    static func list(in db: Session, _ filter: LogFilter) throws -> [(id: Int64, entry: LogEntry)] {
        let found: [(id: Int64, entry: LogEntry)] = try db.all(
            """
            SELECT id, created_at, level, run_id, line FROM log_entries
            WHERE id > ?1 AND level >= ?2 AND created_at >= ?3 AND (?4 IS NULL OR run_id = ?4)
            ORDER BY id \(filter.after == nil ? "DESC" : "ASC") LIMIT ?5
            """,
            [
                filter.after ?? 0, filter.level.rawValue, filter.since?.milliseconds ?? Int64.min, filter.runID,
                filter.limit,
            ]
        ) { row in
            let id: Int64 = try row["id"]
            let entry = LogEntry(
                at: try row["created_at"],
                level: try row["level"],
                runID: try row["run_id"],
                line: try row["line"]
            )
            return (id, entry)
        }
        return filter.after == nil ? found.reversed() : found
    }

    /// Deletes the oldest warnings beyond ``keptWarnings``.
    static func trimWarnings(_ db: Session) throws -> Int {
        try db.changed(
            """
            DELETE FROM log_entries WHERE level = 2 AND id <=
                (SELECT id FROM log_entries WHERE level = 2 ORDER BY id DESC LIMIT 1 OFFSET ?)
            """,
            [keptWarnings]
        )
    }
}
