package import StarwatchCore

/// The knowledge about a server that must survive a restart.
package struct ServerState: Sendable, Hashable {
    /// The dialect of its answers; `nil` before the first valid answer.
    package var dialect: Dialect?
    /// The earliest time of the next request; no limit if `nil` or past.
    package var notBefore: Timestamp?
    /// The time when the server asked for that wait, by the clock of that time.
    package var notBeforeSet: Timestamp?
    /// `true` if it has taken an acknowledgement. Earlier versions stored `false` after a 404.
    package var acknowledges: Bool?

    package init() {}
}

package struct StoreServers: Sendable {
    let store: Store

    /// The stored state of a server; all `nil` for an unknown one.
    package func state(_ server: String) async throws(StoreError) -> ServerState {
        try await store.direct(.read) { db in
            var state = ServerState()
            guard
                let row = try db.row(
                    "SELECT dialect, not_before, acknowledges, not_before_set FROM servers WHERE server = ?",
                    [server]
                )
            else { return state }
            state.dialect = (try row["dialect"] as String?).flatMap(Dialect.init(rawValue:))
            state.notBefore = try row["not_before"]
            state.acknowledges = try row["acknowledges"]
            state.notBeforeSet = try row["not_before_set"]
            return state
        }
    }

    /// Stores the dialect of a server.
    ///
    /// A change of dialect starts the server's streams again, including watermarks, because identifiers of two kinds
    /// have no order. Undelivered rows stay. Acknowledgements and tombstones of the former dialect are given up.
    ///
    /// - Returns: Whether streams were started again.
    package func rememberDialect(_ dialect: Dialect, of server: String, now: Timestamp) async throws(StoreError) -> Bool
    {
        try await store.write(.server) { db in
            let former: String? = try db.value("SELECT dialect FROM servers WHERE server = ?", [server])
            try db.run(
                """
                INSERT INTO servers (server, dialect) VALUES (?, ?)
                ON CONFLICT (server) DO UPDATE SET dialect = excluded.dialect, acknowledges = NULL
                WHERE coalesce(servers.dialect, '') <> excluded.dialect
                """,
                [server, dialect.rawValue]
            )
            let isAnother = former != nil && former != dialect.rawValue
            guard try isAnother || db.streams.hasIdentifiers(otherThan: dialect.idKind, server: server) else {
                return false
            }
            try db.streams.settle(server, now)
            try db.streams.restart("server = ?", [server])
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

    /// Whether a stream of the server has an identifier of another kind.
    package func hasIdentifiers(otherThan kind: IDKind, server: String) async throws(StoreError) -> Bool {
        try await store.direct(.read) { db in try db.streams.hasIdentifiers(otherThan: kind, server: server) }
    }

    /// Stores whether a server supports acknowledgements.
    package func rememberAcknowledges(_ acknowledges: Bool, server: String) async throws(StoreError) {
        try await store.direct(.server) { db in
            try db.run(
                """
                INSERT INTO servers (server, acknowledges) VALUES (?, ?)
                ON CONFLICT (server) DO UPDATE SET acknowledges = excluded.acknowledges
                """,
                [server, acknowledges]
            )
        }
    }

    /// Replaces the stored wait of a server.
    package func setNotBefore(_ wait: NotBefore, server: String) async throws(StoreError) {
        try await store.direct(.server) { db in
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

extension StreamRows {
    /// Settles rows that only the server in its former dialect could settle: tombstones, which hold the watermark, and
    /// rows to acknowledge, with their batches.
    func settle(_ server: String, _ now: Timestamp) throws {
        let streams: [Int64] = try db.values("SELECT id FROM streams WHERE server = ?", [server])
        for stream in streams {
            try db.outbox.cancelTombstones(of: stream, now)
            let acknowledged = try db.acknowledgements.acknowledgeAll(of: stream, now)
            try db.run("DELETE FROM ack_batches WHERE stream_id = ?", [stream])
            try db.ledger.add(acknowledged, as: \.acknowledged, to: stream)
            db.context.record(.acknowledged, acknowledged)
        }
    }

    /// Whether the server of a stream accepts identifiers of this kind, as far as known. A cursor of another kind would
    /// never find anything. `nil` stands for no identifier, which every server accepts.
    func understands(_ kind: IDKind?, of stream: Int64) throws -> Bool {
        guard let kind, let dialect = try dialect(of: stream) else { return true }
        return dialect.idKind == kind
    }

    /// The dialect of a stream's server; `nil` if unknown.
    func dialect(of stream: Int64) throws -> Dialect? {
        try db.value("SELECT v.dialect FROM streams s JOIN servers v ON v.server = s.server WHERE s.id = ?", [stream])
    }

    func hasIdentifiers(otherThan kind: IDKind, server: String) throws -> Bool {
        let ids: [JWTID?] = try db.values(
            "SELECT fetch_cursor FROM streams WHERE server = ?1 UNION ALL SELECT walk_top FROM streams WHERE server = ?1",
            [server]
        )
        return ids.contains { $0.map { $0.kind != kind } ?? false }
    }
}
