package import StarwatchCore

extension StoreOutbox {
    /// The part of the limit that an eviction leaves.
    private static let kept = 0.9

    /// Turns pending rows of an account into tombstones if its part of the outbox exceeds the limit.
    ///
    /// A tombstone holds the watermark and moves its stream's fetch cursor back, so that the server sends the item
    /// again. Some rows are never evicted:
    /// - claimed rows, although they count;
    /// - rows below the watermark, which are dead rows under retry, or announce what another poll was to announce: fetching
    ///   them again would also announce later rows that retention has deleted;
    /// - rows that nothing fetches again: of another server, of its former dialect, of an unconfigured poll, or of a
    ///   stream without a bootstrap;
    /// - rows of lists, whose identifiers their servers do not know. They fill the room, so that later items wait on the server.
    ///
    /// - Parameters:
    ///   - server: The polled server.
    ///   - maxUndelivered: The limit on the account's pending and claimed rows. Up to it nothing happens.
    /// - Returns: The number of evicted rows.
    package func evict(
        _ policy: EvictionPolicy,
        of account: DID,
        server: String,
        maxUndelivered: Int,
        now: Timestamp
    ) async throws(StoreError) -> Int {
        let order =
            switch policy {
            case .fifo: "o.created_at, o.jwt_id"
            case .lifo: "o.created_at DESC, o.jwt_id DESC"
            case .priority: "o.priority, o.created_at, o.jwt_id"
            }
        return try await store.perform { store throws(StoreError) in
            let open = try store.direct(.read) { db in try db.outbox.openCount(of: account) }
            guard open > maxUndelivered else { return 0 }
            let excess = open - Int(Double(maxUndelivered) * Self.kept)
            return try store.write(.evict, of: account) { db in
                var victims: [Int64: [Int64]] = [:]
                let rows = try db.rows(
                    """
                    SELECT o.stream_id, o.id FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
                    LEFT JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll
                    LEFT JOIN servers v ON v.server = s.server
                    WHERE o.state = 'pending' AND s.bootstrapped_at IS NOT NULL
                        AND (w.watermark IS NULL OR o.jwt_id > w.watermark)
                        AND (v.dialect IS NULL OR (v.dialect = 'canonical') = (substr(o.jwt_id, 11, 1) = '_'))
                        AND s.account = ? AND s.server = ? AND s.poll IN (SELECT value FROM json_each(?))
                    ORDER BY \(order) LIMIT ?
                    """,
                    [db.key(account), server, jsonArray(store.options.polls.map(\.rawValue).sorted()), excess]
                )
                while let row = try rows.next() { victims[try row["stream_id"], default: []].append(try row["id"]) }
                var total = 0
                for (stream, ids) in victims.sorted(by: { $0.key < $1.key }) {
                    let evicted = try db.changed(
                        """
                        UPDATE notification_outbox SET state = 'evicted', finished_at = ?, name = NULL
                        WHERE +state = 'pending' AND id IN (SELECT value FROM json_each(?))
                        """,
                        [now.milliseconds, jsonArray(ids)]
                    )
                    try db.ledger.add(evicted, as: \.evicted, to: stream)
                    if let floor = try db.outbox.tombstoneFloor(stream) {
                        try db.run(
                            "UPDATE streams SET fetch_cursor = ?1 WHERE id = ?2 AND fetch_cursor > ?1",
                            [floor.rawValue, stream]
                        )
                    }
                    total += evicted
                }
                db.context.record(.evicted, total)
                return total
            }
        }
    }
}

extension OutboxRows {
    /// Settles the tombstones of a stream that starts again. Nothing needs to fetch them, and they would hold its
    /// watermark forever.
    func cancelTombstones(of stream: Int64, _ now: Timestamp) throws {
        let cancelled = try db.formerStates.change(
            rows: "state = 'evicted' AND stream_id = ?3",
            [stream],
            as: .cancelled,
            to: "state = 'cancelled', finished_at = ?2",
            now
        ).map(\.id)
        try db.ledger.add(cancelled.count, as: \.cancelled, to: stream)
        db.context.record(.cancelled, cancelled.count)
        try passOn(cancelled, now)
    }

    /// The number of pending and claimed rows of an account. One count per state, because the index answers that at once.
    func openCount(of account: DID) throws -> Int {
        try db.integer(
            """
            SELECT coalesce(sum(
                (SELECT count(*) FROM notification_outbox WHERE state = 'pending' AND stream_id = s.id)
                + (SELECT count(*) FROM notification_outbox WHERE state = 'claimed' AND stream_id = s.id)), 0)
            FROM streams s WHERE s.account = ?
            """,
            [db.key(account)]
        )
    }

    /// A cursor from which the server sends the stream's oldest tombstone again; `nil` if there is none.
    func tombstoneFloor(_ stream: Int64) throws -> JWTID? {
        let oldest: JWTID? = try db.value(
            "SELECT min(jwt_id) FROM notification_outbox WHERE state = 'evicted' AND stream_id = ?",
            [stream]
        )
        return oldest?.cursorBefore
    }
}
