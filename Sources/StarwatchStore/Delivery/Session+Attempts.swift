import StarwatchCore

extension Session {
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
        try run(
            """
            INSERT OR REPLACE INTO delivery_attempts
                (notification_id, sink, number, started_at, finished_at, result, reason, next_attempt_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                notification, ticket.sink, ticket.earlierAttempts + 1, attempt.startedAt.milliseconds,
                now.milliseconds, attempt.answer.rawValue, attempt.reason, nextAt?.milliseconds,
            ]
        )
    }

    /// The attempts of a notification, in their order.
    func attempts(of notification: Int64) throws -> [StoredAttempt] {
        try all(
            """
            SELECT sink, number, started_at, finished_at, result, reason, next_attempt_at FROM delivery_attempts
            WHERE notification_id = ? ORDER BY finished_at, sink, number
            """,
            [notification]
        ) { row in
            StoredAttempt(
                sink: try row["sink"],
                number: try row["number"],
                attempt: DeliveryAttempt(
                    try row["result"],
                    reason: try row["reason"],
                    startedAt: try row["started_at"]
                ),
                finishedAt: try row["finished_at"],
                nextAttemptAt: try row["next_attempt_at"]
            )
        }
    }

    /// Deletes the oldest attempts beyond `limit`.
    func trimAttempts(keep limit: Int) throws -> Int {
        try changed(
            """
            DELETE FROM delivery_attempts WHERE finished_at <
                (SELECT finished_at FROM delivery_attempts ORDER BY finished_at DESC LIMIT 1 OFFSET ?)
            """,
            [limit - 1]
        )
    }
}
