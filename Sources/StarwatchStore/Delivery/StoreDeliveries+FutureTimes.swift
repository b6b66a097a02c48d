package import StarwatchCore

extension StoreDeliveries {
    /// Limits stored times of an account that lie in the future, after a clock was set back or was wrong. Otherwise work would wait
    /// until the clock has caught up.
    ///
    /// Server waits are not affected; the gate handles them.
    ///
    /// - Parameters:
    ///   - now: The time by the clock of the rows and deliveries, which follows the server's.
    ///   - local: The time by the clock of the polls, which is the local one.
    ///   - lease: The longest lease.
    ///   - longestWait: The longest backoff of an acknowledgement.
    package func settleFutureTimes(
        of account: DID,
        now: Timestamp,
        local: Timestamp,
        lease: Duration,
        longestWait: Duration
    ) async throws(StoreError) {
        let now = now.milliseconds
        let local = local.milliseconds
        let lease = now + lease.wholeMilliseconds
        let wait = now + longestWait.wholeMilliseconds
        let delay = "CASE WHEN next_attempt_at > updated_at THEN next_attempt_at - updated_at ELSE 0 END"
        let own = "(SELECT id FROM streams WHERE account = ?2)"
        let open = "notification_id IN (SELECT id FROM notifications WHERE state = 'open' AND stream_id IN \(own))"
        // Each sets the times of the account `?2` beyond `?1` back to it.
        let limits: [(statement: String, latest: Int64)] = [
            ("UPDATE streams SET last_notified_at = ?1 WHERE account = ?2 AND last_notified_at > ?1", now),
            (
                // Otherwise a poll would look fresh until the clock has caught up, however long ago its last success is.
                """
                UPDATE streams SET last_success = CASE WHEN last_success > ?1 THEN ?1 ELSE last_success END,
                    last_attempt = CASE WHEN last_attempt > ?1 THEN ?1 ELSE last_attempt END
                WHERE account = ?2 AND (last_success > ?1 OR last_attempt > ?1)
                """, local
            ),
            (
                """
                UPDATE history SET finished_at = ?1,
                    started_at = CASE WHEN started_at > ?1 THEN ?1 ELSE started_at END
                WHERE finished_at > ?1 AND stream_id IN \(own)
                """, local
            ),
            (
                """
                UPDATE notification_outbox SET created_at = ?1
                WHERE state = 'pending' AND created_at > ?1 AND stream_id IN \(own)
                """, now
            ),
            (
                // Otherwise every walk would have begun before the eviction, and the tombstone would hold the cursor for
                // ever.
                """
                UPDATE notification_outbox SET finished_at = ?1
                WHERE state = 'evicted' AND finished_at > ?1 AND stream_id IN \(own)
                """, now
            ),
            (
                """
                UPDATE deliveries SET next_attempt_at = ?1 + \(delay), updated_at = ?1,
                    due_since = CASE WHEN due_since > ?1 + \(delay) THEN ?1 + \(delay) ELSE due_since END
                WHERE state = 'pending' AND updated_at > ?1 AND \(open)
                """, now
            ),
            (
                "UPDATE deliveries SET leased_until = ?1 WHERE state = 'pending' AND leased_until > ?1 AND \(open)",
                lease
            ),
            ("UPDATE ack_batches SET next_attempt_at = ?1 WHERE next_attempt_at > ?1 AND stream_id IN \(own)", wait),
        ]
        try await store.write(.edit, of: account) { db in
            for (statement, latest) in limits { try db.run(statement, [latest, db.key(account)]) }
        }
    }
}
