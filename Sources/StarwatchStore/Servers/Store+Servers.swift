import GRDB
package import StarwatchCore

/// What was learnt about a server and must survive a restart.
package struct ServerState: Sendable, Hashable {
    /// The dialect of its answers; `nil` until one was understood.
    package var dialect: Dialect?
    /// No request before this; `nil` or past: at will.
    package var notBefore: Timestamp?
    /// When that was asked for, by the clock of then.
    package var notBeforeSet: Timestamp?
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
                    "SELECT dialect, not_before, acknowledges, not_before_set FROM servers WHERE server = ?",
                    [server]
                )
            else { return state }
            state.dialect = (row[0] as String?).flatMap(Dialect.init(rawValue:))
            state.notBefore = row.optionalTime(1)
            state.acknowledges = row[2]
            state.notBeforeSet = row.optionalTime(3)
            return state
        }
    }

    /// Remembers in which dialect a server answers.
    ///
    /// Another one than before starts its streams afresh, watermarks included: identifiers of two kinds have no order.
    /// What waits to be delivered stays; what the server of the former dialect was still to be told, or asked for
    /// again, is given up.
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
            let isAnother = former != nil && former != dialect.rawValue
            guard try isAnother || db.hasIdentifiers(otherThan: dialect.idKind, server: server) else { return false }
            try settle(server, db, now)
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

    /// Whether a stream of the server stands at an identifier of another kind.
    package func hasIdentifiers(otherThan kind: IDKind, server: String) throws(StoreError) -> Bool {
        try direct(.read) { db in try db.hasIdentifiers(otherThan: kind, server: server) }
    }

    /// Ends what only the server in its former dialect could end: tombstones, which hold the watermark, and rows to be
    /// acknowledged, with the batches made of them.
    private func settle(_ server: String, _ db: Database, _ now: Timestamp) throws {
        var streams: [Int64] = []
        let rows = try db.rows("SELECT id FROM streams WHERE server = ?", [server])
        while let row = try rows.next() { streams.append(row[0]) }
        for stream in streams {
            try cancelTombstones(of: stream, db, now)
            var delta = Ledger()
            delta.acknowledged = try db.acknowledgeAll(of: stream, now)
            try db.run("DELETE FROM ack_batches WHERE stream_id = ?", [stream])
            try db.add(delta, to: stream)
            record(.acknowledged, delta.acknowledged)
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

    /// Stores until when no request may go to a server, and since when, in place of what is stored.
    package func setNotBefore(_ wait: NotBefore, server: String) throws(StoreError) {
        try direct(.server) { db in
            try db.run(
                """
                INSERT INTO servers (server, not_before, not_before_set) VALUES (?, ?, ?)
                ON CONFLICT (server) DO UPDATE SET not_before = excluded.not_before,
                    not_before_set = excluded.not_before_set
                """,
                [server, wait.until?.milliseconds, wait.since?.milliseconds]
            )
        }
    }
}

extension Database {
    /// Whether the server of a stream, as far as is known, speaks in identifiers of this kind. A cursor of the other kind
    /// would find nothing for ever. `nil`: no identifier, which any server understands.
    func understands(_ kind: IDKind?, of stream: Int64) throws -> Bool {
        guard let kind, let dialect = try dialect(of: stream) else { return true }
        return dialect.idKind == kind
    }

    /// The dialect of a stream's server; `nil` until it is known.
    func dialect(of stream: Int64) throws -> Dialect? {
        let sql = "SELECT v.dialect FROM streams s JOIN servers v ON v.server = s.server WHERE s.id = ?"
        guard let known = try row(sql, [stream])?[0] as String? else { return nil }
        guard let dialect = Dialect(rawValue: known) else { throw Row.damaged }
        return dialect
    }

    fileprivate func hasIdentifiers(otherThan kind: IDKind, server: String) throws -> Bool {
        let rows = try rows("SELECT fetch_cursor, walk_top FROM streams WHERE server = ?", [server])
        while let row = try rows.next() {
            for id in [try row.optionalJWTID(0), try row.optionalJWTID(1)] where id.map({ $0.kind != kind }) ?? false {
                return true
            }
        }
        return false
    }
}
