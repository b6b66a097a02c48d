import GRDB
package import StarwatchCore

/// What was learnt about a server and must survive a restart.
package struct ServerState: Sendable, Hashable {
    /// The dialect of its answers; `nil` until one was understood.
    package var dialect: Dialect?
    /// No request before this; `nil` or past: at will.
    package var notBefore: Timestamp?
    /// Whether it takes acknowledgements; `nil` until tried.
    package var acknowledges: Bool?

    package init() {}
}

extension Store {
    /// What is known about a server; all `nil` for one never met.
    package func serverState(_ server: String) throws(StoreError) -> ServerState {
        try direct(.read) { db in
            var state = ServerState()
            guard
                let row = try db.row(
                    "SELECT dialect, not_before, acknowledges FROM servers WHERE server = ?",
                    [server]
                )
            else { return state }
            state.dialect = (row[0] as String?).flatMap(Dialect.init(rawValue:))
            state.notBefore = row.optionalTime(1)
            state.acknowledges = row[2]
            return state
        }
    }

    /// Remembers in which dialect a server answers.
    ///
    /// Another one than before starts its streams afresh, watermarks included: identifiers of two kinds have no order.
    ///
    /// - Returns: Whether streams were started afresh.
    package func rememberDialect(_ dialect: Dialect, of server: String, now: Timestamp) throws(StoreError) -> Bool {
        try write(.server) { db in
            let former: String? = try db.row("SELECT dialect FROM servers WHERE server = ?", [server])?[0]
            try db.run(
                """
                INSERT INTO servers (server, dialect) VALUES (?, ?)
                ON CONFLICT (server) DO UPDATE SET dialect = excluded.dialect, acknowledges = NULL
                WHERE dialect IS NOT excluded.dialect
                """,
                [server, dialect.rawValue]
            )
            guard let former, former != dialect.rawValue else { return false }
            try db.run(
                """
                UPDATE streams SET fetch_cursor = NULL, bootstrapped_at = NULL, walk_top = NULL, walk_before = NULL,
                    walk_after = NULL WHERE server = ?
                """,
                [server]
            )
            try db.run(
                "UPDATE watermarks SET watermark = NULL, updated_at = ? WHERE server = ?",
                [now.milliseconds, server]
            )
            try db.run(
                """
                UPDATE settings SET lastAckedStarredPlanChangesJwtId = NULL, lastAckedTimestamp = NULL, updated_at = ?
                WHERE apiServer = ?
                """,
                [now.milliseconds, server]
            )
            return true
        }
    }

    /// Remembers whether a server takes acknowledgements.
    package func rememberAcknowledges(_ acknowledges: Bool, server: String) throws(StoreError) {
        try direct(.server) { db in
            try db.run(
                """
                INSERT INTO servers (server, acknowledges) VALUES (?, ?)
                ON CONFLICT (server) DO UPDATE SET acknowledges = excluded.acknowledges
                """,
                [server, acknowledges]
            )
        }
    }

    /// Stores that no request may go to a server before `time`. A later one that is stored stays.
    package func setNotBefore(_ time: Timestamp, server: String) throws(StoreError) {
        try direct(.server) { db in try db.setNotBefore(time, server: server) }
    }

    /// Stores the wait for a server anew, after a step of the clock; it may be an earlier time.
    package func replaceNotBefore(_ time: Timestamp, server: String) throws(StoreError) {
        try direct(.server) { db in
            try db.run("UPDATE servers SET not_before = ? WHERE server = ?", [time.milliseconds, server])
        }
    }
}

extension Database {
    func setNotBefore(_ time: Timestamp, server: String) throws {
        try run(
            """
            INSERT INTO servers (server, not_before) VALUES (?, ?)
            ON CONFLICT (server) DO UPDATE SET not_before = max(coalesce(not_before, 0), excluded.not_before)
            """,
            [server, time.milliseconds]
        )
    }
}
