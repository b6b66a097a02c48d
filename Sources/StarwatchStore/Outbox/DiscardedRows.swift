package import StarwatchCore
import Synchronization

/// A stored notification that loses changes.
package struct NotificationRemainder: Sendable {
    package let poll: PollName
    package let message: NotificationMessage
    /// The changes that it loses. At least one other is left.
    package let discarded: Set<JWTID>
    /// The changes of offers without a plan.
    package let offers: Set<JWTID>
}

/// Renders a notification without the changes that it loses. Runs on the store's queue and must not block. `nil` leaves
/// the notification as it is.
package typealias NotificationRenewal =
    @Sendable (NotificationRemainder) -> (notification: OutgoingNotification, shortlink: Shortlink?)?

extension StoreOutbox {
    /// Gives rows up. Ignores other ids.
    ///
    /// Dead and claimed rows become `cancelled`. Rows that an optional sink did not get keep their state, and are no longer
    /// retried. Their notification is made anew without them under the same id, also for a later retry; a running attempt
    /// can still end with the former text. A notification is cancelled when none of its rows is left.
    ///
    /// - Parameters:
    ///   - actor: Who discards them, as the journal has it.
    ///   - make: Renders a notification without its discarded rows.
    /// - Returns: The number of changed rows.
    package func discard(
        _ ids: [Int64],
        by actor: String? = nil,
        now: Timestamp,
        make: @escaping NotificationRenewal
    ) async throws(StoreError) -> Int {
        try await store.write(.edit) { db in
            let rows = DiscardedRows(db: db, list: jsonArray(ids), actor: actor, now: now, make: make)
            let undelivered = try rows.discardUndelivered()
            let dead = try rows.discard("dead") { entry, count in
                entry.dead = -count
                entry.cancelled = count
            }
            let claimed = try rows.discard("claimed") { $0.cancelled = $1 }
            // Work that the dispatcher has already read must not be sent as it was.
            store.memory.renewals.add(1, ordering: .relaxed)
            return undelivered + dead + claimed
        }
    }
}

/// The rows that an operator gives up, in one access.
private struct DiscardedRows {
    let db: Session
    /// The rows' ids, as JSON.
    let list: String
    let actor: String?
    let now: Timestamp
    let make: NotificationRenewal

    /// Marks finished rows that an optional sink did not get.
    func discardUndelivered() throws -> Int {
        try db.formerStates.keep(
            rows: "id IN (SELECT value FROM json_each(?3)) AND \(OutboxRow.isUndelivered)",
            [list],
            as: .discarded,
            now
        )
        let (streams, notifications) = try grouped(
            """
            UPDATE notification_outbox AS o SET reason = '\(RowReason.discarded.rawValue)', discarded_by = ?
            WHERE id IN (SELECT value FROM json_each(?)) AND \(OutboxRow.isUndelivered)
            RETURNING stream_id, notification_id
            """,
            [actor, list]
        )
        // Finished rows can be retried at an optional sink.
        let isRetriable = """
            state IN ('delivered', 'acknowledged') AND coalesce(reason, '') <> '\(RowReason.discarded.rawValue)'
            """
        try renew(notifications, with: isRetriable, isLost: true)
        let total = streams.values.reduce(0, +)
        db.context.record(.discarded, total)
        return total
    }

    /// Cancels rows of a state, and their notifications if no other row of that state is left.
    func discard(_ state: String, entry: (inout Ledger, Int) -> Void) throws -> Int {
        try db.formerStates.keep(
            rows: "+state = '\(state)' AND id IN (SELECT value FROM json_each(?3))",
            [list],
            as: .discarded,
            now
        )
        let (streams, notifications) = try grouped(
            """
            UPDATE notification_outbox SET state = 'cancelled', finished_at = ?, discarded_by = ?,
                reason = '\(RowReason.discarded.rawValue)'
            WHERE +state = '\(state)' AND id IN (SELECT value FROM json_each(?)) RETURNING stream_id, notification_id
            """,
            [now.milliseconds, actor, list]
        )
        try renew(notifications, with: "state = '\(state)'", isLost: false)
        return try db.outbox.book(streams, as: .discarded, entry: entry)
    }

    /// Makes notifications anew that have rows of a condition, and cancels the others.
    ///
    /// - Parameter notifications: The notifications with their streams.
    private func renew(_ notifications: [Int64: Int64], with condition: String, isLost: Bool) throws {
        for (notification, stream) in notifications.sorted(by: { $0.key < $1.key }) {
            if try db.deliveries.hasRows(condition, of: notification, stream) {
                try db.notifications.renew(notification, of: stream, now, make)
            } else {
                try db.notifications.cancel(notification, isLost: isLost, now)
                try db.notifications.renewCarriers(of: notification, of: stream, now, make)
            }
        }
    }

    /// Runs a change of rows.
    ///
    /// - Returns: The number of rows by stream, and the streams of their notifications.
    private func grouped(
        _ sql: String,
        _ arguments: SQLArguments
    ) throws -> (streams: [Int64: Int], notifications: [Int64: Int64]) {
        var (streams, notifications): ([Int64: Int], [Int64: Int64]) = ([:], [:])
        let rows = try db.rows(sql, arguments)
        while let row = try rows.next() {
            let stream: Int64 = try row["stream_id"]
            streams[stream, default: 0] += 1
            if let notification: Int64 = try row["notification_id"] { notifications[notification] = stream }
        }
        return (streams, notifications)
    }
}
