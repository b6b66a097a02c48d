package import StarwatchCore

/// A state that a change or a notification has left, and the step by which it left.
package struct FormerState: Sendable, Hashable {
    /// The step that ends a state. The raw values are stored and shown.
    package enum Departure: String, Sendable, CaseIterable {
        /// The operator retries it.
        case retried
        /// The operator discarded it.
        case discarded
        /// The server sent it again.
        case returned
        /// Its notification, or the row of another poll, no longer announces it.
        case released
        /// Its identity signed out, or nothing fetches it again.
        case cancelled
        /// It is no longer announced.
        case suppressed
        /// Its notification was made anew without discarded changes.
        case renewed
    }

    /// The id of the notification that had it, `ntf_…`; `nil` for none.
    package let notification: String?
    /// The page that had brought it.
    package let page: PageOrigin?
    /// The time at which it was stored; `nil` for a notification.
    package let storedAt: Timestamp?
    /// The state: an ``OutboxState``, that of a notification, or that of a sink.
    package let state: String?
    /// The time at which it reached the state, if that is an end; `nil` otherwise.
    package let endedAt: Timestamp?
    /// The sinks that did not get it.
    package let sinks: [String]
    /// The reason for the state, as a ``RowReason`` or a ``FailureReason``.
    package let reason: String?
    package let step: Departure
    package let at: Timestamp
}

/// The states that changes and notifications have left, in one access.
///
/// Each change of state that would lose the former one keeps it first, in the same transaction. What its row still tells is
/// not kept, so that a delivery without a detour writes nothing here.
struct FormerStates {
    let db: Session

    /// The largest number of states in a story.
    private static let listLimit = 100

    /// The sinks that did not get a row's notification, and the reason of one of them.
    private static let lost = """
        (SELECT group_concat(sink) FROM deliveries d WHERE d.notification_id = o.notification_id AND d.\(Schema.isLost)),
        coalesce(o.reason, (SELECT max(d.reason) FROM deliveries d
            WHERE d.notification_id = o.notification_id AND d.\(Schema.isLost)))
        """

    /// Keeps the state of rows that are about to leave it. Rows without an end and a notification have nothing to lose.
    ///
    /// - Parameters:
    ///   - condition: A fixed text about `notification_outbox o`, because the statement is cached. Its arguments begin
    ///     with `?3`.
    func keep(
        rows condition: String,
        _ arguments: SQLArguments,
        as step: FormerState.Departure,
        _ now: Timestamp
    ) throws {
        try db.run(
            """
            INSERT INTO former_states
                (row_id, notification_id, fetch_id, stored_at, state, ended_at, sink, reason, step, at)
            SELECT id, notification_id, fetch_id, created_at, state, finished_at,
                \(Self.lost), ?1, ?2
            FROM notification_outbox AS o
            WHERE (\(condition)) AND (finished_at IS NOT NULL OR notification_id IS NOT NULL)
            """,
            [step.rawValue, now.milliseconds] + arguments
        )
    }

    /// Keeps the end of a notification and of the sinks that did not get it.
    func keep(notification: Int64, as step: FormerState.Departure, _ now: Timestamp) throws {
        try db.run(
            """
            INSERT INTO former_states (notification_id, state, ended_at, sink, reason, step, at)
            SELECT id, state, finished_at, NULL, NULL, ?1, ?2 FROM notifications WHERE id = ?3
            UNION ALL
            SELECT notification_id, state, updated_at, sink, reason, ?1, ?2 FROM deliveries
                WHERE notification_id = ?3 AND \(Schema.isLost)
            """,
            [step.rawValue, now.milliseconds, notification]
        )
    }

    /// A changed row, with the notification that it has now.
    typealias ChangedRow = (id: Int64, stream: Int64, notification: Int64?)

    /// Keeps the state of rows, and changes them.
    ///
    /// - Parameters:
    ///   - assignments: The new values, a fixed text too. `?2` is the present time.
    ///   - values: Further arguments of the assignments, after those of the condition.
    func change(
        rows condition: String,
        _ arguments: SQLArguments,
        as step: FormerState.Departure,
        to assignments: String,
        with values: SQLArguments = [],
        _ now: Timestamp
    ) throws -> [ChangedRow] {
        try keep(rows: condition, arguments, as: step, now)
        return try db.all(
            """
            UPDATE notification_outbox AS o SET \(assignments) WHERE \(condition)
            RETURNING id, stream_id, notification_id
            """,
            [step.rawValue, now.milliseconds] + arguments + values
        ) { (try $0["id"], try $0["stream_id"], try $0["notification_id"]) }
    }

    /// Makes the claimed rows of a notification pending, for another one.
    ///
    /// - Returns: Their number.
    func release(claimedIn notification: Int64, of stream: Int64, _ now: Timestamp) throws -> Int {
        try change(
            rows: "state = 'claimed' AND +stream_id = ?3 AND notification_id = ?4",
            [stream, notification],
            as: .released,
            to: "state = 'pending', notification_id = NULL",
            now
        ).count
    }

    /// Notes that a notification was made anew.
    func renewed(_ notification: Int64, _ now: Timestamp) throws {
        try db.run(
            "INSERT INTO former_states (notification_id, step, at) VALUES (?, ?, ?)",
            [notification, FormerState.Departure.renewed.rawValue, now.milliseconds]
        )
    }

    /// The states that a row has left, the first one first.
    func list(ofRow row: Int64) throws -> [FormerState] { try list("f.row_id = ?", row) }

    /// The states that a notification and its sinks have left, the first one first.
    func list(ofNotification notification: Int64) throws -> [FormerState] {
        try list("f.row_id IS NULL AND f.notification_id = ?", notification)
    }

    private func list(_ condition: String, _ id: Int64) throws -> [FormerState] {
        try db.all(
            """
            SELECT f.fetch_id, f.stored_at, f.state, f.ended_at, f.sink, f.reason, f.step, f.at,
                (SELECT token FROM notifications n WHERE n.id = f.notification_id) AS token
            FROM former_states f WHERE \(condition) ORDER BY f.id LIMIT \(Self.listLimit)
            """,
            [id]
        ) { row -> FormerState? in
            let (fetch, storedAt): (Int64?, Timestamp?) = (try row["fetch_id"], try row["stored_at"])
            let (state, endedAt): (String?, Timestamp?) = (try row["state"], try row["ended_at"])
            let (sinks, reason): (String?, String?) = (try row["sink"], try row["reason"])
            // A later version can know other steps.
            guard let step = FormerState.Departure(rawValue: try row["step"]) else { return nil }
            return FormerState(
                notification: try row["token"],
                page: try fetch.flatMap { try db.outbox.pages("id = ?", [$0]).first },
                storedAt: storedAt,
                state: state,
                endedAt: endedAt,
                sinks: (sinks ?? "").split(separator: ",").map(String.init).sorted(),
                reason: reason,
                step: step,
                at: try row["at"]
            )
        }.compactMap(\.self)
    }

    /// Deletes the states of an account's changes and notifications.
    ///
    /// - Parameter account: The stored form.
    func delete(account: String) throws {
        for (column, table) in [("row_id", "notification_outbox"), ("notification_id", "notifications")] {
            try db.run(
                """
                DELETE FROM former_states WHERE \(column) IN (SELECT id FROM \(table)
                    WHERE stream_id IN (SELECT id FROM streams WHERE account = ?))
                """,
                [account]
            )
        }
    }

    /// The number of states that one step looks at.
    static let step = 500

    /// Deletes the oldest states beyond the `limit` newest ids, and those of deleted rows and notifications, among the next
    /// ``step``.
    ///
    /// - Parameter after: The last state that was looked at.
    /// - Returns: The last of the step and the number of deleted states; `nil` if there was none.
    func trim(after: Int64, keep limit: Int) throws -> (last: Int64?, deleted: Int) {
        let last: Int64? = try db.value(
            "SELECT max(id) FROM (SELECT id FROM former_states WHERE id > ? ORDER BY id LIMIT \(Self.step))",
            [after]
        )
        guard let last else { return (nil, 0) }
        let deleted = try db.changed(
            """
            DELETE FROM former_states WHERE id > ?1 AND id <= ?2
                AND (id <= (SELECT max(id) FROM former_states) - ?3 OR CASE WHEN row_id IS NULL
                    THEN NOT EXISTS (SELECT 1 FROM notifications n WHERE n.id = former_states.notification_id)
                    ELSE NOT EXISTS (SELECT 1 FROM notification_outbox o WHERE o.id = former_states.row_id) END)
            """,
            [after, last, limit]
        )
        return (last, deleted)
    }
}
