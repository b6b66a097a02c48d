package import StarwatchCore
import Synchronization

/// A stored notification, the changes that it loses, of which at least one other is left, and those of offers without a plan.
package typealias NotificationRemainder = (
    poll: PollName, message: NotificationMessage, discarded: Set<JWTID>, offers: Set<JWTID>
)

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
        try await store.perform { store throws(StoreError) in
            // Work that the dispatcher has already read must not be sent as it was.
            store.memory.renewals.add(1, ordering: .relaxed)
            return try store.write(.edit) { db in
                let rows = DiscardedRows(db: db, list: jsonArray(ids), actor: actor, now: now, make: make)
                let undelivered = try rows.discardUndelivered()
                let dead = try rows.discard("dead") { entry, count in
                    entry.dead = -count
                    entry.cancelled = count
                }
                return try undelivered + dead + rows.discard("claimed") { $0.cancelled = $1 }
            }
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
        let rows = try db.formerStates.change(
            rows: "id IN (SELECT value FROM json_each(?3)) AND \(OutboxRow.isUndelivered)",
            [list],
            as: .discarded,
            to: "reason = '\(RowReason.discarded.rawValue)', discarded_by = ?4",
            with: [actor],
            now
        )
        // Finished rows can be retried at an optional sink.
        let isRetriable = """
            state IN ('delivered', 'acknowledged') AND coalesce(reason, '') <> '\(RowReason.discarded.rawValue)'
            """
        try renew(rows, with: isRetriable, isLost: true)
        db.context.record(.discarded, rows.count)
        return rows.count
    }

    /// Cancels rows of a state, and their notifications if no other row of that state is left.
    func discard(_ state: String, entry: (inout Ledger, Int) -> Void) throws -> Int {
        let rows = try db.formerStates.change(
            rows: "+state = '\(state)' AND id IN (SELECT value FROM json_each(?3))",
            [list],
            as: .discarded,
            to: """
                state = 'cancelled', finished_at = ?2, discarded_by = ?4, reason = '\(RowReason.discarded.rawValue)'
                """,
            with: [actor],
            now
        )
        try renew(rows, with: "state = '\(state)'", isLost: false)
        return try db.outbox.book(rows.map(\.stream), as: .discarded, entry: entry)
    }

    /// Makes the notifications of rows anew that have others of a condition, and cancels the rest.
    private func renew(_ rows: [FormerStates.ChangedRow], with condition: String, isLost: Bool) throws {
        let found = rows.compactMap { row in row.notification.map { ($0, row.stream) } }
        let notifications: [Int64: Int64] = Dictionary(found) { $1 }
        for (notification, stream) in notifications.sorted(by: { $0.key < $1.key }) {
            if try db.deliveries.hasRows(condition, of: notification, stream) {
                try db.notifications.renew(notification, of: stream, now, make)
            } else {
                try db.notifications.cancel(notification, isLost: isLost, now)
                try db.notifications.renewCarriers(of: notification, of: stream, now, make)
            }
        }
    }
}
