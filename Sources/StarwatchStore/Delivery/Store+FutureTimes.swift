import GRDB
package import StarwatchCore

extension Store {
    /// Brings stored times that lie in the future to what they can be at most: a clock has been set back, or was wrong
    /// when they were stored. Without it they would be waited for until the clock has caught up.
    ///
    /// What a server asked for is not among them; that is the gate's.
    ///
    /// - Parameters:
    ///   - lease: How long a lease is at most.
    ///   - longestWait: How long an acknowledgement waits at most by its own backoff.
    package func settleFutureTimes(now: Timestamp, lease: Duration, longestWait: Duration) throws(StoreError) {
        let now = now.milliseconds
        let lease = now + lease.wholeMilliseconds
        let wait = now + longestWait.wholeMilliseconds
        let open = "notification_id IN (SELECT id FROM notifications WHERE state = 'open')"
        try write(.edit) { db in
            try db.run("UPDATE streams SET last_notified_at = ?1 WHERE last_notified_at > ?1", [now])
            try db.run(
                """
                UPDATE notification_outbox SET created_at = ?1
                WHERE state = 'pending' AND created_at > ?1 AND stream_id IN (SELECT id FROM streams)
                """,
                [now]
            )
            // Or no walk would have begun after it was evicted, and it would hold the cursor back.
            try db.run(
                """
                UPDATE notification_outbox SET finished_at = ?1
                WHERE state = 'evicted' AND finished_at > ?1 AND stream_id IN (SELECT id FROM streams)
                """,
                [now]
            )
            try db.run(
                """
                UPDATE deliveries SET next_attempt_at = ?1 + max(0, next_attempt_at - updated_at), updated_at = ?1
                WHERE state = 'pending' AND updated_at > ?1 AND \(open)
                """,
                [now]
            )
            try db.run(
                "UPDATE deliveries SET leased_until = ?1 WHERE state = 'pending' AND leased_until > ?1 AND \(open)",
                [lease]
            )
            try db.run("UPDATE ack_batches SET next_attempt_at = ?1 WHERE next_attempt_at > ?1", [wait])
        }
    }
}
