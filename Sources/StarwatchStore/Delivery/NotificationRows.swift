import FoundationEssentials
import StarwatchCore

/// The notifications and what is due at their sinks, in one access.
struct NotificationRows {
    let db: Session

    /// Stores a notification without deliveries.
    ///
    /// - Returns: The row id.
    func insert(_ notification: OutgoingNotification, _ stream: Int64, _ now: Timestamp) throws -> Int64 {
        try db.inserted(
            """
            INSERT INTO notifications (token, stream_id, state, kind, row_count, run_id, created_at, title, body, payload)
            VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?) RETURNING id
            """,
            [
                notification.id, stream, notification.group.rawValue, notification.count, notification.runID,
                now.milliseconds,
            ] + sealedContent(of: notification, stream)
        )
    }

    /// Stores a notification without rows, due at once.
    func insertNotice(
        _ notification: OutgoingNotification,
        of stream: Int64,
        to sinks: [String],
        now: Timestamp
    ) throws -> Int64 {
        let row = try insert(notification, stream, now)
        try insertDeliveries(of: row, to: sinks, dueAt: now, now: now)
        return row
    }

    /// The stored title, body and payload of a notification.
    func sealedContent(of notification: OutgoingNotification, _ stream: Int64) throws -> SQLArguments {
        let owner = db.vault.isSealed ? try db.streams.owner(of: stream) : nil
        return [
            try db.sealed(notification.title, .notificationTitle, of: owner, row: notification.id),
            try db.sealed(notification.body, .notificationBody, of: owner, row: notification.id),
            try db.sealed(notification.payload, .notificationPayload, of: owner, row: notification.id),
        ]
    }

    /// Cancels the open deliveries of notifications, and closes them. A running attempt ends without effect.
    ///
    /// - Parameter notifications: The SQL of their row ids, of the argument `?1`. A fixed text, because the statement is
    ///   cached.
    func cancelOpen(_ notifications: String, _ argument: Int64, _ now: Timestamp) throws {
        try db.run(
            """
            UPDATE deliveries SET state = 'cancelled', updated_at = ?2
            WHERE state = 'pending' AND notification_id IN \(notifications)
            """,
            [argument, now.milliseconds]
        )
        try db.run(
            """
            UPDATE notifications SET state = 'cancelled', finished_at = ?2
            WHERE state = 'open' AND id IN \(notifications)
            """,
            [argument, now.milliseconds]
        )
    }

    /// The columns for ``outgoing(_:)``, of `notifications n` and `streams s`.
    static let allOutgoing = """
        SELECT n.id, n.token, s.account, s.server, s.poll, n.kind, n.title, n.body, n.payload, n.row_count, n.run_id,
            n.stream_id
        FROM notifications n JOIN streams s ON s.id = n.stream_id
        """

    /// The notification in a row of ``allOutgoing``.
    func outgoing(_ row: SQLRow) throws -> OutgoingNotification {
        let content = try content(row)
        return OutgoingNotification(
            id: try row["token"],
            runID: try row["run_id"],
            poll: try row["poll"],
            group: try row["kind"],
            count: try row["row_count"],
            text: content.text,
            payload: content.payload
        )
    }

    /// The title, body and payload of a notification, from the columns `token`, `title`, `body` and `payload`.
    func content(_ row: SQLRow) throws -> (text: (title: String, body: String), payload: [UInt8]) {
        let token: String = try row["token"]
        let bytes = try db.opened(row["payload"] as Data, .notificationPayload, row: token)
        // A decrypted database holds nothing in the place of a payload that did not open.
        guard !bytes.isEmpty else { throw StoreError.sealed(.damaged) }
        return (
            (
                try db.opened(row["title"], .notificationTitle, row: token),
                try db.opened(row["body"], .notificationBody, row: token)
            ), bytes
        )
    }

    /// Makes a notification due at sinks, also at one whose delivery has ended.
    ///
    /// - Parameters:
    ///   - leasedUntil: The end of the caller's lease; `nil` for no lease.
    ///   - isHeld: Whether the hours of the sinks put it off.
    func insertDeliveries(
        of notification: Int64,
        to sinks: [String],
        dueAt: Timestamp,
        leasedUntil: Timestamp? = nil,
        isHeld: Bool = false,
        now: Timestamp
    ) throws {
        for sink in sinks {
            try db.run(
                """
                INSERT INTO deliveries (notification_id, sink, state, lease, leased_until, due_since, next_attempt_at,
                    updated_at, is_held)
                VALUES (?1, ?2, 'pending', ?3, ?4, ?5, ?5, ?6, ?7)
                ON CONFLICT (notification_id, sink) DO UPDATE SET state = 'pending', lease = deliveries.lease + 1,
                    leased_until = excluded.leased_until, due_since = excluded.due_since,
                    next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at,
                    is_held = excluded.is_held
                """,
                [
                    notification, sink, leasedUntil == nil ? 0 : 1, leasedUntil?.milliseconds, dueAt.milliseconds,
                    now.milliseconds, isHeld,
                ]
            )
        }
    }

    /// Stores a notification's shortlink, in the transaction that stores the notification and its deliveries. It lives from the
    /// moment when the last sink gets it, because one can hold it for a day.
    func store(
        _ shortlink: Shortlink,
        to changes: [Change],
        of notification: Int64,
        _ account: DID,
        _ now: Timestamp
    ) throws {
        let token = db.vault.lookup(shortlink.rawValue, as: "shortlink")
        let targets = StoredShortlink.Target.stored(changes)
        let opening: Timestamp? = try db.value(
            "SELECT max(next_attempt_at) FROM deliveries WHERE notification_id = ? AND state = 'pending' AND is_held = 1",
            [notification]
        )
        try db.run(
            "INSERT INTO shortlinks (token, notification_id, targets, expires_at) VALUES (?, ?, ?, ?)",
            [
                token, notification, try db.sealed(targets, .shortlinkTargets, of: db.key(account), row: token),
                (max(now, opening ?? now) + Shortlink.lifetime).milliseconds,
            ]
        )
    }

    /// Withdraws undelivered notices of features from an identity that signs out. They are created again when it returns.
    func withdrawNotices(of account: DID) throws {
        let open = """
            (SELECT token FROM notifications n WHERE state = 'open'
                AND NOT EXISTS (SELECT 1 FROM deliveries WHERE notification_id = n.id AND state = 'ok'))
            """
        let tokens: [String] = try db.values(
            "SELECT token FROM feature_notices WHERE account = ? AND token IN \(open)",
            [db.key(account)]
        )
        for token in tokens {
            try db.run("UPDATE feature_notices SET finished_at = NULL WHERE token = ?", [token])
            try db.run("DELETE FROM notifications WHERE token = ?", [token])
        }
    }
}
