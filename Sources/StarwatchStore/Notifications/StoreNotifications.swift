import FoundationEssentials
package import StarwatchCore

package struct StoreNotifications: Sendable {
    let store: Store

    /// The account's notifications, the newest first.
    ///
    /// - Parameters:
    ///   - before: Only notifications below this row id; `nil` for all.
    ///   - change: Only notifications that announce the change, did before, or repeat one of those; `nil` for all.
    package func list(
        of account: DID,
        limit: Int,
        before: Int64? = nil,
        change: JWTID? = nil
    ) async throws(StoreError) -> [StoredNotification] {
        let ofChange = """
            AND coalesce((SELECT f.id FROM notifications f WHERE f.token = n.repeats), n.id) IN
                (SELECT a.notification_id FROM \(Schema.announcements) a
                    JOIN notification_outbox o ON o.id = a.row_id WHERE o.jwt_id = ?4)
            """
        return try await store.direct(.read) { db in
            try Self.list(
                in: db,
                of: account,
                "n.id < ?2 \(change == nil ? "" : ofChange) ORDER BY n.id DESC LIMIT ?3",
                [before ?? .max, limit] + (change.map { [$0.rawValue] } ?? [] as SQLArguments)
            )
        }
    }

    /// The account's notification with this id; `nil` if there is none.
    package func find(_ id: String, of account: DID) async throws(StoreError) -> StoredNotification? {
        try await store.direct(.read) { db in try Self.list(in: db, of: account, "n.token = ?2", [id]).first }
    }

    /// The JWT IDs that a notification announced. For a repetition, those of the first notification.
    package func jwts(of notification: StoredNotification, _ account: DID) async throws(StoreError) -> [JWTID] {
        try await store.direct(.read) { db in
            try db.values(
                """
                SELECT jwt_id FROM notification_outbox
                WHERE notification_id = (SELECT n.id FROM notifications n JOIN streams s ON s.id = n.stream_id
                    WHERE n.token = ? AND s.account = ?) ORDER BY id
                """,
                [notification.repeats ?? notification.id, db.key(account)]
            )
        }
    }

    /// Records a person's action on a notification of the active identity, once. A snooze also stores the repetition.
    ///
    /// Rows, ledger, acknowledgements and watermarks stay unchanged, because a repetition has no rows.
    ///
    /// - Parameter sinks: The sinks for a repetition.
    package func act(
        _ action: NotificationAction,
        on id: String,
        of account: DID,
        sinks: [String],
        now: Timestamp
    ) async throws(StoreError) -> ActionResult {
        try await store.write(.edit, of: account) { db in
            guard try db.identity.isActive(account),
                let notification = try Self.list(in: db, of: account, "n.token = ?2", [id]).first
            else { return .unknown }
            guard let message = NotificationMessage(json: notification.payload),
                message.actions.contains(action.rawValue)
            else { return .notOffered }
            guard action.isRecorded else {
                return .done(ActionRecord(action: action, doneAt: now, repetition: nil))
            }
            if let record = notification.actions.first(where: { $0.action == action }) { return .already(record) }
            var repetition: String?
            if action == .snooze {
                guard !sinks.isEmpty else { return .noSinks }
                repetition = try Self.repeated(in: db, notification, message, to: sinks, now: now)
            }
            try db.run(
                "INSERT INTO notification_actions (notification_id, action, done_at, repetition) VALUES (?, ?, ?, ?)",
                [notification.row, action.rawValue, now.milliseconds, repetition]
            )
            return .done(ActionRecord(action: action, doneAt: now, repetition: repetition))
        }
    }
}

extension StoreNotifications {
    /// Stores a copy of the notification for delivery after the snooze.
    private static func repeated(
        in db: Session,
        _ notification: StoredNotification,
        _ message: NotificationMessage,
        to sinks: [String],
        now: Timestamp
    ) throws -> String {
        let first = notification.repeats ?? notification.id
        // A notification is snoozed at most once, so the next id is free.
        let id = StoredNotification.idOfRepetition(of: notification.id)
        let stored = try db.row("SELECT stream_id, run_id FROM notifications WHERE id = ?", [notification.row])
        guard let stored else { throw StoreError.damaged }
        let repetition = OutgoingNotification(
            id: id,
            runID: try stored["run_id"],
            poll: notification.poll.rawValue,
            group: notification.group,
            count: notification.count,
            text: (notification.title, notification.body),
            payload: message.repeated(id: id, of: first).json()
        )
        let row = try db.notifications.insert(repetition, try stored["stream_id"], now)
        try db.run("UPDATE notifications SET repeats = ? WHERE id = ?", [first, row])
        let due = now + NotificationAction.snoozeDuration
        try db.notifications.insertDeliveries(of: row, to: sinks, dueAt: due, now: now)
        return id
    }

    /// The account's notifications that match a condition, whose arguments begin with `?2`.
    private static func list(
        in db: Session,
        of account: DID,
        _ condition: String,
        _ arguments: SQLArguments
    ) throws -> [StoredNotification] {
        try db.all(
            """
            SELECT n.id, n.token, s.poll, n.state, n.kind, n.row_count, n.title, n.body, n.payload, n.created_at,
                n.repeats
            FROM notifications n JOIN streams s ON s.id = n.stream_id
            WHERE s.account = ?1 AND \(condition)
            """,
            [db.key(account)] + arguments
        ) { row in
            let (id, token): (Int64, String) = (try row["id"], try row["token"])
            return StoredNotification(
                row: id,
                id: token,
                poll: try row["poll"],
                state: try row["state"],
                group: try row["kind"],
                count: try row["row_count"],
                title: try ifReadable { try db.opened(row["title"], .notificationTitle, row: token) }
                    ?? Unreadable.text,
                body: try ifReadable { try db.opened(row["body"], .notificationBody, row: token) } ?? Unreadable.text,
                payload: try ifReadable { try db.opened(row["payload"] as Data, .notificationPayload, row: token) }
                    ?? [],
                createdAt: try row["created_at"],
                repeats: try row["repeats"],
                actions: try actions(in: db, of: id),
                deliveries: try db.deliveries.list(of: id)
            )
        }
    }

    private static func actions(in db: Session, of notification: Int64) throws -> [ActionRecord] {
        try db.all(
            """
            SELECT action, done_at, repetition FROM notification_actions WHERE notification_id = ?
            ORDER BY done_at, action
            """,
            [notification]
        ) { row in
            ActionRecord(action: try row["action"], doneAt: try row["done_at"], repetition: try row["repetition"])
        }
    }
}
