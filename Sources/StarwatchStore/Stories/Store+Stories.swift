import GRDB
package import StarwatchCore

extension Store {
    /// The maximum number of rows in a story of several.
    static let storyRows = 100

    /// The rows of a change: the active identity's first, then the newest. Two polls can have the same change.
    package func rows(of change: JWTID) throws(StoreError) -> [Int64] {
        try direct(.read) { db in
            try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT o.id FROM streams s CROSS JOIN notification_outbox o
                            ON o.stream_id = s.id AND o.jwt_id = ?
                        ORDER BY s.account IS (SELECT activeDid FROM active_identity) DESC, o.id DESC
                        """
                ),
                arguments: [change.rawValue]
            )
        }
    }

    /// The changes of the rows below `before`, the newest first.
    package func changes(before: Int64?, limit: Int) throws(StoreError) -> [StoryRow] {
        try direct(.read) { db in
            try db.storyRows("id < ? ORDER BY id DESC LIMIT ?", [before ?? .max, limit])
        }
    }

    /// The stored life of a row; `nil` if there is none.
    package func changeStory(_ id: Int64) throws(StoreError) -> ChangeStory? {
        try direct(.read) { db in
            let found = try db.row(
                """
                SELECT \(OutboxRow.columns), o.notification_id, o.origin, o.fetch_id, o.ack_request_id,
                    s.last_notified_at, s.account IS (SELECT activeDid FROM active_identity)
                FROM notification_outbox o JOIN streams s ON s.id = o.stream_id WHERE o.id = ?
                """,
                [id]
            )
            guard let found else { return nil }
            let row = try OutboxRow(found, db)
            let stream: Int64 = found[18]
            let fetch: Int64? = found[23]
            let pending = try db.row(
                "SELECT count(*), min(created_at) FROM notification_outbox WHERE state = 'pending' AND stream_id = ?",
                [stream]
            )
            return ChangeStory(
                row: row,
                isActive: found[26],
                isBootstrap: found[22] == "bootstrap",
                page: try fetch.flatMap { try db.pages("id = ?", $0).first?.page },
                notification: try (found[21] as Int64?).flatMap { try db.notificationStory("n.id = ?", $0) },
                ackRequestID: found[24],
                batch: try db.batch(of: stream, row: id),
                watermark: try db.watermark(of: row, stream),
                due: DueSummary(
                    count: pending?[0] ?? 0,
                    oldestCreatedAt: pending?.optionalTime(1),
                    lastNotifiedAt: found.optionalTime(25)
                )
            )
        }
    }

    /// The stored life of a notification; `nil` if there is none.
    package func notificationStory(_ token: String) throws(StoreError) -> NotificationStory? {
        try direct(.read) { db in try db.notificationStory("n.token = ?", token) }
    }

    /// The digest whose notification will have this id; `nil` if there is none.
    package func armedDigest(_ token: String) throws(StoreError) -> ArmedDigest? {
        try direct(.read) { db in
            let row = try db.row(
                """
                SELECT coalesce(digest, slot_id), account, fire_at, content_at, status, error_code
                FROM notif_deliveries WHERE token = ?
                """,
                [token]
            )
            guard let row else { return nil }
            return ArmedDigest(
                digest: row[0],
                account: try db.account(row[1]),
                fireAt: row.time(2),
                contentAt: row.optionalTime(3),
                status: row[4],
                code: row[5]
            )
        }
    }

    /// The stored life of a run. Everything of it is empty for an unknown run.
    package func runStory(_ runID: String) throws(StoreError) -> RunStory {
        try direct(.read) { db in
            let cycle = try db.row(
                """
                SELECT h.started_at, h.finished_at, h.outcome, h.new_rows, h.reason, s.account, s.server, s.poll
                FROM history h JOIN streams s ON s.id = h.stream_id WHERE h.run_id = ?
                """,
                [runID]
            )
            let entry = try cycle.map { row in
                HistoryEntry(
                    runID: runID,
                    startedAt: row.time(0),
                    finishedAt: row.time(1),
                    outcome: try row.word(2),
                    newRows: row[3],
                    reason: row[4]
                )
            }
            let rows = try db.storyRows("run_id = ? ORDER BY id LIMIT ?", [runID, Self.storyRows])
            let notifications = try String.fetchAll(
                db.cachedStatement(sql: "SELECT token FROM notifications WHERE run_id = ? ORDER BY id LIMIT ?"),
                arguments: [runID, Self.storyRows]
            )
            var stream = try cycle.map { try db.stream($0, 5) }
            if stream == nil {
                let row = try db.row(
                    """
                    SELECT account, server, poll FROM streams WHERE id = coalesce(
                        (SELECT stream_id FROM notification_outbox WHERE id = ?),
                        (SELECT stream_id FROM notifications WHERE token = ?))
                    """,
                    [rows.first?.id, notifications.first]
                )
                stream = try row.map { try db.stream($0, 0) }
            }
            return RunStory(
                stream: stream,
                cycle: entry,
                pages: try db.pages("run_id = ?", runID).map(\.page),
                rows: rows,
                notifications: notifications
            )
        }
    }
}

extension Session {
    fileprivate func storyRows(_ condition: String, _ arguments: StatementArguments) throws -> [StoryRow] {
        var found: [StoryRow] = []
        let rows = try rows("SELECT id, jwt_id, state FROM notification_outbox WHERE \(condition)", arguments)
        while let row = try rows.next() {
            found.append(StoryRow(id: row[0], change: try row.jwtID(1), state: try row.word(2)))
        }
        return found
    }

    fileprivate func notificationStory(
        _ condition: String,
        _ argument: any DatabaseValueConvertible
    ) throws -> NotificationStory? {
        let found = try row(
            """
            SELECT n.id, n.token, s.account, s.server, s.poll, n.state, n.run_id, n.created_at, n.finished_at, n.repeats,
                s.account IS (SELECT activeDid FROM active_identity)
            FROM notifications n JOIN streams s ON s.id = n.stream_id WHERE \(condition)
            """,
            [argument]
        )
        guard let found else { return nil }
        let id: Int64 = found[0]
        var leases: [String: Timestamp] = [:]
        let leased = try rows(
            "SELECT sink, leased_until FROM deliveries WHERE notification_id = ? AND leased_until IS NOT NULL",
            [id]
        )
        while let row = try leased.next() { leases[row[0]] = row.time(1) }
        return NotificationStory(
            id: found[1],
            stream: try stream(found, 2),
            isActive: found[10],
            state: try found.word(5),
            runID: found[6],
            createdAt: found.time(7),
            finishedAt: found.optionalTime(8),
            repeats: found[9],
            rows: try storyRows("notification_id = ? ORDER BY id LIMIT ?", [id, Store.storyRows]),
            attempts: try attempts(of: id),
            deliveries: try deliveries(of: id),
            leases: leases
        )
    }

    fileprivate func batch(of stream: Int64, row id: Int64) throws -> ChangeWaitFacts.Batch? {
        let batch = try row(
            """
            SELECT EXISTS (SELECT 1 FROM json_each(row_ids) WHERE value = ?), attempts, next_attempt_at
            FROM ack_batches WHERE stream_id = ?
            """,
            [id, stream]
        )
        return batch.map { ChangeWaitFacts.Batch(isOwn: $0[0], attempts: $0[1], nextAttemptAt: $0.time(2)) }
    }

    fileprivate func watermark(of change: OutboxRow, _ stream: Int64) throws -> ChangeStory.Watermark {
        let id = change.change.id
        let current = try watermark(change.stream)
        let isPast = current.map { id == $0 || id.precedes($0) == true } ?? false
        let move = try row(
            """
            SELECT moved_at FROM watermark_moves WHERE stream_id = ?1 AND watermark >= ?2
                AND (substr(watermark, 11, 1) = '_') = (substr(?2, 11, 1) = '_')
            ORDER BY watermark LIMIT 1
            """,
            [stream, id.rawValue]
        )
        let open = try firstOpen(of: stream).flatMap { $0.precedes(id) == true ? $0 : nil }
        let blocking: Int64? = try open.flatMap { open in
            try row("SELECT id FROM notification_outbox WHERE stream_id = ? AND jwt_id = ?", [stream, open.rawValue])?[
                0
            ]
        }
        let cursor = try row("SELECT fetch_cursor FROM streams WHERE id = ?", [stream])?.optionalJWTID(0)
        return ChangeStory.Watermark(
            isPast: isPast,
            passedAt: isPast ? move?.optionalTime(0) : nil,
            blockingRow: blocking,
            isBeyondCursor: cursor.map { $0.precedes(id) == true } ?? true
        )
    }
}
