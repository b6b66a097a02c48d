package import StarwatchCore

/// The stories of changes, notifications and runs.
package struct StoreStories: Sendable {
    let store: Store

    /// The maximum number of rows in a story of several.
    static let rowLimit = 100

    /// The rows of a change: the active identity's first, then the newest. Two polls can have the same change.
    ///
    /// - Parameter account: The account of the rows; `nil`: every account.
    package func rows(of change: JWTID, account: DID? = nil) async throws(StoreError) -> [Int64] {
        try await store.direct(.read) { db in
            try db.values(
                """
                SELECT o.id FROM streams s CROSS JOIN notification_outbox o ON o.stream_id = s.id AND o.jwt_id = ?1
                WHERE ?2 IS NULL OR s.account = ?2
                ORDER BY \(Schema.isActive) DESC, o.id DESC
                """,
                [change.rawValue, account.map(db.key)]
            )
        }
    }

    /// The changes of the rows below `before`, the newest first.
    package func changes(before: Int64?, limit: Int) async throws(StoreError) -> [StoryRow] {
        try await store.direct(.read) { db in
            try db.outbox.rows("id < ? ORDER BY id DESC LIMIT ?", [before ?? .max, limit])
        }
    }

    /// The stored life of a row; `nil` if there is none.
    package func change(_ id: Int64) async throws(StoreError) -> ChangeStory? {
        try await store.direct(.read) { db in
            let found = try db.row(
                """
                SELECT \(OutboxRow.columns), o.notification_id, o.origin, o.fetch_id, o.ack_request_id,
                    s.last_notified_at, \(Schema.isActive) AS is_active
                FROM notification_outbox o JOIN streams s ON s.id = o.stream_id WHERE o.id = ?
                """,
                [id]
            )
            guard let found else { return nil }
            let row = try OutboxRow(found, db)
            let stream: Int64 = try found["stream_id"]
            let (fetch, notification): (Int64?, Int64?) = (try found["fetch_id"], try found["notification_id"])
            let history = try db.formerStates.list(ofRow: id)
            var former: [NotificationStory] = []
            for case let token? in history.map(\.notification)
            where token != row.notificationID && !former.contains(where: { $0.id == token }) {
                if let story = try db.outbox.notification("n.token = ?", [token]) { former.append(story) }
            }
            return ChangeStory(
                row: row,
                isActive: try found["is_active"],
                isBootstrap: try found["origin"] == "bootstrap",
                page: try fetch.flatMap { try db.outbox.pages("id = ?", [$0]).first },
                notification: try notification.flatMap { try db.outbox.notification("n.id = ?", [$0]) },
                history: history,
                formerNotifications: former,
                ackRequestID: try found["ack_request_id"],
                batch: try db.outbox.batch(of: stream, row: id),
                watermark: try db.outbox.watermark(of: row, stream),
                due: try db.deliveries.dueSummary(of: stream)
            )
        }
    }

    /// The stored life of a notification; `nil` if there is none.
    package func notification(_ token: String) async throws(StoreError) -> NotificationStory? {
        try await store.direct(.read) { db in try db.outbox.notification("n.token = ?", [token]) }
    }

    /// The rows that a notification announces or announced, at most ``rowLimit``. For a repetition, those of the first
    /// notification.
    package func rows(of notification: StoredNotification) async throws(StoreError) -> [StoryRow] {
        try await store.direct(.read) { db in
            let token = notification.repeats ?? notification.id
            let id: Int64? = try db.value("SELECT id FROM notifications WHERE token = ?", [token])
            return try id.map { try db.outbox.rows(ofNotification: $0) } ?? []
        }
    }

    /// The digest whose notification will have this id; `nil` if there is none.
    package func armedDigest(_ token: String) async throws(StoreError) -> ArmedDigest? {
        try await store.direct(.read) { db in
            let row = try db.row(
                """
                SELECT coalesce(digest, slot_id) AS digest, account, fire_at, content_at, status
                FROM notif_deliveries WHERE token = ?
                """,
                [token]
            )
            guard let row else { return nil }
            return (
                digest: try row["digest"],
                account: try db.account(row["account"]),
                fireAt: try row["fire_at"],
                contentAt: try row["content_at"],
                status: try row["status"]
            )
        }
    }

    /// The stored life of a run. Everything of it is empty for an unknown run.
    package func run(_ runID: String) async throws(StoreError) -> RunStory {
        try await store.direct(.read) { db in
            let cycle = try db.row(
                """
                SELECT h.started_at, h.finished_at, h.outcome, h.new_rows, h.reason, s.account, s.server, s.poll
                FROM history h JOIN streams s ON s.id = h.stream_id WHERE h.run_id = ?
                """,
                [runID]
            )
            let entry = try cycle.map { try RecentRun(runID, of: try $0["poll"], $0) }
            let rows = try db.outbox.rows("run_id = ? ORDER BY id LIMIT ?", [runID, Self.rowLimit])
            let notifications: [String] = try db.values(
                "SELECT token FROM notifications WHERE run_id = ? ORDER BY id LIMIT ?",
                [runID, Self.rowLimit]
            )
            var stream = try cycle.map { try db.streams.stream($0) }
            if stream == nil {
                let row = try db.row(
                    """
                    SELECT account, server, poll FROM streams WHERE id = coalesce(
                        (SELECT stream_id FROM notification_outbox WHERE id = ?),
                        (SELECT stream_id FROM notifications WHERE token = ?))
                    """,
                    [rows.first?.id, notifications.first]
                )
                stream = try row.map { try db.streams.stream($0) }
            }
            return RunStory(
                stream: stream,
                cycle: entry,
                pages: try db.outbox.pages("run_id = ?", [runID]),
                rows: rows,
                notifications: notifications
            )
        }
    }
}

/// The parts of stories.
extension OutboxRows {
    func rows(_ condition: String, _ arguments: SQLArguments) throws -> [StoryRow] {
        try db.all("SELECT id, jwt_id, state FROM notification_outbox WHERE \(condition)", arguments) { row in
            (try row["id"], try row["jwt_id"], try row["state"])
        }
    }

    /// The rows that a notification announces, and those that it announced before.
    func rows(ofNotification id: Int64) throws -> [StoryRow] {
        try rows(
            """
            notification_id = ?1 OR id IN (SELECT row_id FROM former_states WHERE notification_id = ?1)
                OR notification_id IN (SELECT d.notification_id FROM notifications n
                    JOIN deliveries d ON d.carried_by = n.token WHERE n.id = ?1)
            ORDER BY id LIMIT ?2
            """,
            [id, StoreStories.rowLimit]
        )
    }

    func notification(_ condition: String, _ arguments: SQLArguments) throws -> NotificationStory? {
        let found = try db.row(
            """
            SELECT n.id, n.token, s.account, s.server, s.poll, n.state, n.run_id, n.created_at, n.finished_at, n.repeats,
                \(Schema.isActive) AS is_active
            FROM notifications n JOIN streams s ON s.id = n.stream_id WHERE \(condition)
            """,
            arguments
        )
        guard let found else { return nil }
        let id: Int64 = try found["id"]
        return NotificationStory(
            id: try found["token"],
            stream: try db.streams.stream(found),
            isActive: try found["is_active"],
            state: try found["state"],
            runID: try found["run_id"],
            createdAt: try found["created_at"],
            finishedAt: try found["finished_at"],
            repeats: try found["repeats"],
            rows: try rows(ofNotification: id),
            attempts: try db.deliveries.attempts(of: id),
            deliveries: try db.deliveries.list(of: id),
            history: try db.formerStates.list(ofNotification: id)
        )
    }

    func batch(of stream: Int64, row id: Int64) throws -> ChangeWaitFacts.Batch? {
        let batch = try db.row(
            """
            SELECT EXISTS (SELECT 1 FROM json_each(row_ids) WHERE value = ?) AS is_own, attempts, next_attempt_at
            FROM ack_batches WHERE stream_id = ?
            """,
            [id, stream]
        )
        return try batch.map { row in
            ChangeWaitFacts.Batch(
                isOwn: try row["is_own"],
                attempts: try row["attempts"],
                nextAttemptAt: try row["next_attempt_at"]
            )
        }
    }

    func watermark(of change: OutboxRow, _ stream: Int64) throws -> ChangeStory.Watermark {
        let id = change.change.id
        let current = try db.acknowledgements.watermark(of: change.stream)
        let isPast = current.map { id == $0 || id.precedes($0) == true } ?? false
        let passedAt: Timestamp? = try db.value(
            """
            SELECT moved_at FROM watermark_moves WHERE stream_id = ?1 AND watermark >= ?2
                AND (substr(watermark, 11, 1) = '_') = (substr(?2, 11, 1) = '_')
            ORDER BY watermark LIMIT 1
            """,
            [stream, id.rawValue]
        )
        let open = try db.outbox.firstOpen(of: stream).flatMap { $0.precedes(id) == true ? $0 : nil }
        let blocking: Int64? = try open.flatMap { open in
            try db.value(
                "SELECT id FROM notification_outbox WHERE stream_id = ? AND jwt_id = ?",
                [stream, open.rawValue]
            )
        }
        let cursor: JWTID? = try db.value("SELECT fetch_cursor FROM streams WHERE id = ?", [stream])
        return (
            isPast: isPast,
            passedAt: isPast ? passedAt : nil,
            blockingRow: blocking,
            isBeyondCursor: cursor.map { $0.precedes(id) == true } ?? true
        )
    }
}
