import GRDB
package import StarwatchCore

extension Store {
    /// Turns pending rows into tombstones when more rows are undelivered than the outbox may hold (C-056, C-057).
    ///
    /// A tombstone holds the watermark and rewinds its stream's fetch cursor, so that the server gives the item again.
    /// Claimed rows count but stay; so does what lies below the watermark, a dead row that is tried again: to fetch it
    /// anew would fetch, and announce, what retention has deleted since. Rows of another server, of its former dialect,
    /// of a stream that has not begun and may begin above them, or of a poll that is configured no more stay too, for
    /// nothing fetches them again.
    ///
    /// - Parameters:
    ///   - server: The one that is polled.
    ///   - maxUndelivered: The cap on pending and claimed rows over all streams; nothing happens up to it.
    ///   - share: What to evict down to, as a share of the cap.
    /// - Returns: How many rows were evicted.
    package func evict(
        _ policy: EvictionPolicy,
        server: String,
        maxUndelivered: Int,
        downTo share: Double = 0.9,
        now: Timestamp
    ) throws(StoreError) -> Int {
        let open = try direct(.read) { db in try db.openRows() }
        guard open > maxUndelivered else { return 0 }
        let excess = open - Int(Double(maxUndelivered) * share)
        let order =
            switch policy {
            case .fifo: "o.created_at, o.jwt_id"
            case .lifo: "o.created_at DESC, o.jwt_id DESC"
            case .priority: "o.priority, o.created_at, o.jwt_id"
            }
        return try write(.evict) { db in
            var victims: [Int64: [Int64]] = [:]
            let rows = try db.rows(
                """
                SELECT o.stream_id, o.id FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
                LEFT JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll
                LEFT JOIN servers v ON v.server = s.server
                WHERE o.state = 'pending' AND s.bootstrapped_at IS NOT NULL
                    AND (w.watermark IS NULL OR o.jwt_id > w.watermark)
                    AND (v.dialect IS NULL OR (v.dialect = 'canonical') = (substr(o.jwt_id, 11, 1) = '_'))
                    AND s.server = ? AND instr(?, ',' || s.poll || ',') > 0
                ORDER BY \(order) LIMIT ?
                """,
                [server, "," + options.polls.map(\.rawValue).sorted().joined(separator: ",") + ",", excess]
            )
            while let row = try rows.next() { victims[row[0], default: []].append(row[1]) }
            var total = 0
            for (stream, ids) in victims.sorted(by: { $0.key < $1.key }) {
                let evicted = try db.changed(
                    """
                    UPDATE notification_outbox SET state = 'evicted', finished_at = ?, name = NULL
                    WHERE +state = 'pending' AND id IN (SELECT value FROM json_each(?))
                    """,
                    [now.milliseconds, jsonArray(ids)]
                )
                var delta = Ledger()
                delta.evicted = evicted
                try db.add(delta, to: stream)
                if let floor = try db.tombstoneFloor(stream) {
                    try db.run(
                        "UPDATE streams SET fetch_cursor = ?1 WHERE id = ?2 AND fetch_cursor > ?1",
                        [floor.rawValue, stream]
                    )
                }
                total += evicted
            }
            record(.evicted, total)
            return total
        }
    }

    /// Gives up the tombstones of a stream that starts afresh: nothing need fetch them again, and they would hold its
    /// watermark for ever.
    func cancelTombstones(of stream: Int64, _ db: Database, _ now: Timestamp) throws {
        var delta = Ledger()
        delta.cancelled = try db.changed(
            """
            UPDATE notification_outbox SET state = 'cancelled', finished_at = ?
            WHERE state = 'evicted' AND stream_id = ?
            """,
            [now.milliseconds, stream]
        )
        try db.add(delta, to: stream)
        record(.cancelled, delta.cancelled)
    }
}

extension Database {
    /// Pending and claimed rows of all streams.
    func openRows() throws -> Int {
        try integer("SELECT count(*) FROM notification_outbox WHERE state = 'pending'")
            + integer("SELECT count(*) FROM notification_outbox WHERE state = 'claimed'")
    }
}
