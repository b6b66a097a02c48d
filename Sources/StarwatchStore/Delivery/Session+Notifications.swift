import FoundationEssentials
import GRDB
import StarwatchCore

extension Session {
    /// Stores a notification without deliveries.
    ///
    /// - Returns: The row id.
    func insertNotification(_ notification: OutgoingNotification, _ stream: Int64, _ now: Timestamp) throws -> Int64 {
        let owner = vault.isSealed ? try owner(of: stream) : nil
        try run(
            """
            INSERT INTO notifications (token, stream_id, state, kind, row_count, title, body, payload, run_id, created_at)
            VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                notification.id, stream, notification.group.rawValue, notification.count,
                try sealed(notification.title, .notificationTitle, of: owner, row: notification.id),
                try sealed(notification.body, .notificationBody, of: owner, row: notification.id),
                try sealed(notification.payload, .notificationPayload, of: owner, row: notification.id),
                notification.runID, now.milliseconds,
            ]
        )
        return lastInsertedRowID
    }

    /// The columns for ``outgoing(_:)``, of `notifications n` and `streams s`.
    static let outgoingColumns = """
        n.id, n.token, s.account, s.server, s.poll, n.kind, n.title, n.body, n.payload, n.row_count, n.run_id
        """

    /// The notification in a row of ``outgoingColumns``.
    func outgoing(_ row: Row) throws -> OutgoingNotification {
        let content = try content(title: row[6], body: row[7], payload: row[8], of: row[1])
        return OutgoingNotification(
            id: row[1],
            runID: row[10],
            poll: row[4],
            group: try row.word(5),
            count: row[9],
            text: content.text,
            payload: content.payload
        )
    }

    /// The title, body and payload of a notification, from their stored forms.
    func content(
        title: String,
        body: String,
        payload: Data,
        of token: String
    ) throws -> (text: (title: String, body: String), payload: [UInt8]) {
        let bytes = try opened(payload, .notificationPayload, row: token)
        // A decrypted database holds nothing in the place of a payload that did not open.
        guard !bytes.isEmpty else { throw StoreError.sealed(.damaged) }
        return (
            (try opened(title, .notificationTitle, row: token), try opened(body, .notificationBody, row: token)), bytes
        )
    }

    /// Makes a notification due at sinks.
    ///
    /// - Parameter leasedUntil: The end of the caller's lease; `nil` for no lease.
    func insertDeliveries(
        of notification: Int64,
        to sinks: [String],
        dueAt: Timestamp,
        leasedUntil: Timestamp? = nil,
        now: Timestamp
    ) throws {
        for sink in sinks {
            try run(
                """
                INSERT INTO deliveries (notification_id, sink, state, lease, leased_until, due_since, next_attempt_at,
                    updated_at)
                VALUES (?1, ?2, 'pending', ?3, ?4, ?5, ?5, ?6)
                """,
                [
                    notification, sink, leasedUntil == nil ? 0 : 1, leasedUntil?.milliseconds, dueAt.milliseconds,
                    now.milliseconds,
                ]
            )
        }
    }
}
