import GRDB
import StarwatchCore

extension Database {
    /// Stores a notification without deliveries.
    ///
    /// - Returns: The row id.
    func insertNotification(_ notification: OutgoingNotification, _ stream: Int64, _ now: Timestamp) throws -> Int64 {
        try run(
            """
            INSERT INTO notifications (token, stream_id, state, kind, row_count, title, body, payload, run_id, created_at)
            VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                notification.id, stream, notification.group.rawValue, notification.count, notification.title,
                notification.body, notification.payload.blob, notification.runID, now.milliseconds,
            ]
        )
        return lastInsertedRowID
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
