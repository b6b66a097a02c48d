package import StarwatchCore

/// An attempt at a sink, for its notification's story.
package struct DeliveryAttempt: Sendable, Hashable {
    package let answer: SinkAnswer
    /// The reason as one sentence without personal data; `nil` for a success.
    package let reason: String?
    /// The same from a closed set; `nil` for a success, and before version 9.
    package let cause: FailureReason?
    package let startedAt: Timestamp

    package init(_ answer: SinkAnswer, reason: String?, cause: FailureReason? = nil, startedAt: Timestamp) {
        (self.answer, self.reason, self.cause, self.startedAt) = (answer, reason, cause, startedAt)
    }
}

package struct StoredAttempt: Sendable, Hashable {
    package let sink: String
    /// Number of the attempt at this sink, from 1.
    package let number: Int
    package let attempt: DeliveryAttempt
    package let finishedAt: Timestamp
    /// Time of the next attempt, as planned then; `nil` if none was planned.
    package let nextAttemptAt: Timestamp?
}

extension DeliveryRows {
    /// Stores an attempt. A notification that was sent anew after its deliveries expired counts from 1 again.
    ///
    /// - Parameter nextAt: The planned time of the next attempt; `nil` for none.
    func store(
        _ attempt: DeliveryAttempt,
        of ticket: DeliveryTicket,
        _ notification: Int64,
        now: Timestamp,
        nextAt: Timestamp?
    ) throws {
        try db.run(
            """
            INSERT INTO delivery_attempts
                (notification_id, sink, number, started_at, finished_at, result, reason, next_attempt_at, cause)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (notification_id, sink, number) DO UPDATE SET started_at = excluded.started_at,
                finished_at = excluded.finished_at, result = excluded.result, reason = excluded.reason,
                next_attempt_at = excluded.next_attempt_at, cause = excluded.cause
            """,
            [
                notification, ticket.sink, ticket.earlierAttempts + 1, attempt.startedAt.milliseconds,
                now.milliseconds, attempt.answer.rawValue, attempt.reason, nextAt?.milliseconds,
                attempt.cause?.description,
            ]
        )
    }

    /// The attempts of a notification, and of those that brought it to a sink, in their order.
    func attempts(of notification: Int64) throws -> [StoredAttempt] {
        try db.all(
            """
            SELECT a.sink, a.number, a.started_at, a.finished_at, a.result, a.reason, a.cause, a.next_attempt_at
            FROM delivery_attempts a WHERE a.notification_id = ?1 OR a.notification_id IN
                (SELECT n.id FROM deliveries d JOIN notifications n ON n.token = d.carried_by
                WHERE d.notification_id = ?1 AND d.sink = a.sink)
            ORDER BY a.finished_at, a.sink, a.number
            """,
            [notification]
        ) { row in
            StoredAttempt(
                sink: try row["sink"],
                number: try row["number"],
                attempt: DeliveryAttempt(
                    try row["result"],
                    reason: try row["reason"],
                    cause: (try row["cause"] as String?).flatMap { FailureReason($0) },
                    startedAt: try row["started_at"]
                ),
                finishedAt: try row["finished_at"],
                nextAttemptAt: try row["next_attempt_at"]
            )
        }
    }

    /// Deletes the oldest attempts beyond `limit`.
    func trimAttempts(keep limit: Int) throws -> Int {
        try db.changed(
            """
            DELETE FROM delivery_attempts WHERE finished_at <
                (SELECT finished_at FROM delivery_attempts ORDER BY finished_at DESC LIMIT 1 OFFSET ?)
            """,
            [limit - 1]
        )
    }
}
