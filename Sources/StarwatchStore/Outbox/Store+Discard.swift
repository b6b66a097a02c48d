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

extension Store {
    /// Gives rows up. Ignores other ids.
    ///
    /// Dead and claimed rows become `cancelled`. Rows that an optional sink did not get keep their state, and are no longer
    /// retried. Their notification is made anew without them under the same id, also for a later retry; a running attempt
    /// can still end with the former text. A notification is cancelled when none of its rows is left.
    ///
    /// - Parameter make: Renders a notification without its discarded rows.
    /// - Returns: The number of changed rows.
    package func discard(
        _ ids: [Int64],
        now: Timestamp,
        make: NotificationRenewal
    ) throws(StoreError) -> Int {
        try write(.edit) { db in
            let list = jsonArray(ids)
            let finished = try db.discardUndelivered(list)
            for (notification, stream) in finished.notifications.sorted(by: { $0.key < $1.key }) {
                if try db.hasRows(Session.isRetriable, of: notification, stream) {
                    try db.renew(notification, of: stream, now, make)
                } else {
                    try db.cancel(notification, isLost: true, now)
                }
            }
            let undelivered = finished.streams.values.reduce(0, +)
            record(.discarded, undelivered)
            let dead = try discard("dead", list, db, now, make) { entry, count in
                entry.dead = -count
                entry.cancelled = count
            }
            let claimed = try discard("claimed", list, db, now, make) { $0.cancelled = $1 }
            // Work that the dispatcher has already read must not be sent as it was.
            renewals.add(1, ordering: .relaxed)
            return undelivered + dead + claimed
        }
    }

    /// Cancels rows of a state, and their notifications if no other row of that state is left.
    private func discard(
        _ state: String,
        _ list: String,
        _ db: Session,
        _ now: Timestamp,
        _ make: NotificationRenewal,
        entry: (inout Ledger, Int) -> Void
    ) throws -> Int {
        let (streams, notifications) = try db.cancelRows(state, list, now)
        for (notification, stream) in notifications.sorted(by: { $0.key < $1.key }) {
            if try db.hasRows("state = '\(state)'", of: notification, stream) {
                try db.renew(notification, of: stream, now, make)
            } else {
                try db.cancel(notification, now)
            }
        }
        return try book(streams, as: .discarded, db, entry: entry)
    }
}

extension Session {
    /// The condition of finished rows that can be retried at an optional sink.
    fileprivate static let isRetriable = """
        state IN ('delivered', 'acknowledged') AND reason IS NOT '\(RowReason.discarded.rawValue)'
        """

    /// Marks finished rows that an optional sink did not get.
    ///
    /// - Parameter list: The rows' ids, as JSON.
    /// - Returns: The number of rows by stream, and the streams of their notifications.
    fileprivate func discardUndelivered(
        _ list: String
    ) throws -> (streams: [Int64: Int], notifications: [Int64: Int64]) {
        try grouped(
            """
            UPDATE notification_outbox AS o SET reason = '\(RowReason.discarded.rawValue)'
            WHERE id IN (SELECT value FROM json_each(?)) AND \(OutboxRow.isUndelivered)
            RETURNING stream_id, notification_id
            """,
            [list]
        )
    }

    /// Cancels rows of a state.
    ///
    /// - Parameter list: The rows' ids, as JSON.
    /// - Returns: The number of rows by stream, and the streams of their notifications.
    fileprivate func cancelRows(
        _ state: String,
        _ list: String,
        _ now: Timestamp
    ) throws -> (streams: [Int64: Int], notifications: [Int64: Int64]) {
        try grouped(
            """
            UPDATE notification_outbox SET state = 'cancelled', finished_at = ?, reason = '\(RowReason.discarded.rawValue)'
            WHERE +state = '\(state)' AND id IN (SELECT value FROM json_each(?)) RETURNING stream_id, notification_id
            """,
            [now.milliseconds, list]
        )
    }

    private func grouped(
        _ sql: String,
        _ arguments: SQLArguments
    ) throws -> (streams: [Int64: Int], notifications: [Int64: Int64]) {
        var (streams, notifications): ([Int64: Int], [Int64: Int64]) = ([:], [:])
        let rows = try rows(sql, arguments)
        while let row = try rows.next() {
            let stream: Int64 = try row["stream_id"]
            streams[stream, default: 0] += 1
            if let notification: Int64 = try row["notification_id"] { notifications[notification] = stream }
        }
        return (streams, notifications)
    }

    fileprivate func hasRows(_ condition: String, of notification: Int64, _ stream: Int64) throws -> Bool {
        try integer(
            """
            SELECT EXISTS (SELECT 1 FROM notification_outbox
                WHERE \(condition) AND stream_id = ? AND notification_id = ?)
            """,
            [stream, notification]
        ) == 1
    }

    /// Cancels an open notification whose rows are all discarded, and its repetitions.
    ///
    /// - Parameter isLost: Whether to drop the results of the sinks that did not get it, too.
    func cancel(_ notification: Int64, isLost: Bool = false, _ now: Timestamp) throws {
        try cancelOpen(Self.withRepetitions, notification, now)
        if isLost {
            try run(
                "UPDATE deliveries SET state = 'cancelled', updated_at = ? WHERE \(Schema.isLost) AND notification_id = ?",
                [now.milliseconds, notification]
            )
        }
    }
}
