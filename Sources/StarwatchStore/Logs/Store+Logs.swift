import StarwatchCore

/// Debug and info lines are kept while they are among the last 1,000 lines; warnings and errors for 90 days (C-202),
/// at most ``Store/keptWarnings`` warnings.
extension Store {
    /// The maximum number of warnings.
    static let keptWarnings = 10_000

    /// Appends lines in one transaction, and drops debug and info lines beyond the last 1,000 lines.
    package func appendLogs(_ entries: [LogEntry]) throws(StoreError) {
        guard !entries.isEmpty else { return }
        try write(.log) { db in
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

    /// The selected lines, in the order in which they were logged.
    package func logs(_ filter: LogFilter) throws(StoreError) -> [StoredLogEntry] {
        try direct(.read) { db in
            let found = try db.all(
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
                StoredLogEntry(
                    id: try row["id"],
                    entry: LogEntry(
                        at: try row["created_at"],
                        level: try row["level"],
                        runID: try row["run_id"],
                        line: try row["line"]
                    )
                )
            }
            return filter.after == nil ? found.reversed() : found
        }
    }
}

extension Session {
    /// Deletes the oldest warnings beyond ``Store/keptWarnings``.
    func trimWarnings() throws -> Int {
        try changed(
            """
            DELETE FROM log_entries WHERE level = 2 AND id <=
                (SELECT id FROM log_entries WHERE level = 2 ORDER BY id DESC LIMIT 1 OFFSET ?)
            """,
            [Store.keptWarnings]
        )
    }
}
