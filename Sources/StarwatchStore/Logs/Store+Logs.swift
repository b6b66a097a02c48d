import GRDB
package import StarwatchCore

/// A formatted and redacted log line.
package struct LogEntry: Sendable, Hashable {
    package let at: Timestamp
    /// Errors are kept for 90 days, other lines while they are among the last 1,000 (C-202).
    package let isError: Bool
    package let line: String

    package init(at: Timestamp, isError: Bool, line: String) {
        self.at = at
        self.isError = isError
        self.line = line
    }
}

extension Store {
    /// Appends lines in one transaction, and drops lines beyond the last 1,000.
    package func appendLogs(_ entries: [LogEntry]) throws(StoreError) {
        guard !entries.isEmpty else { return }
        try write(.log) { db in
            for entry in entries {
                try db.run(
                    "INSERT INTO log_entries (created_at, is_error, line) VALUES (?, ?, ?)",
                    [entry.at.milliseconds, entry.isError, entry.line]
                )
            }
            try db.run(
                """
                DELETE FROM log_entries WHERE is_error = 0 AND id <=
                    (SELECT id FROM log_entries ORDER BY id DESC LIMIT 1 OFFSET 1000)
                """,
                []
            )
        }
    }

    /// The last lines, the newest first.
    package func recentLogs(limit: Int, errorsOnly: Bool = false) throws(StoreError) -> [LogEntry] {
        try direct(.read) { db in
            var found: [LogEntry] = []
            let rows = try db.rows(
                "SELECT created_at, is_error, line FROM log_entries WHERE is_error >= ? ORDER BY id DESC LIMIT ?",
                [errorsOnly, limit]
            )
            while let row = try rows.next() {
                found.append(LogEntry(at: row.time(0), isError: row[1], line: row[2]))
            }
            return found
        }
    }
}
