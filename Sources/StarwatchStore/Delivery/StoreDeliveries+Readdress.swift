package import StarwatchCore

extension StoreDeliveries {
    /// Sends the account's notifications without a due sink and without rows to the current sinks, for example a snoozed notification
    /// whose sinks were renamed. A delivery time in the future stays.
    package func readdress(of account: DID, to sinks: [String], now: Timestamp) async throws(StoreError) {
        guard !sinks.isEmpty else { return }
        try await store.perform { store throws(StoreError) in
            guard try !store.direct(.read, { db in try db.notifications.stranded(of: account) }).isEmpty else { return }
            try store.write(.claim, of: account) { db in
                for (id, dueAt) in try db.notifications.stranded(of: account) {
                    // A clock that was set back must not extend a snooze.
                    let next = min(max(dueAt, now), now + NotificationAction.snoozeDuration)
                    try db.notifications.insertDeliveries(of: id, to: sinks, dueAt: next, now: now)
                }
            }
        }
    }

    /// Makes an account's notifications due that wait for another attempt at a sink. One that its sink's hours hold, a repetition
    /// before its time, and one that is being sent stay.
    ///
    /// - Returns: Their number, and the time of the last one's attempt.
    package func endWaits(
        for sink: String,
        of account: DID,
        now: Timestamp
    ) async throws(StoreError) -> (count: Int, latest: Timestamp?) {
        try await store.write(.edit, of: account) { db in
            let waiting: [(Int64, Timestamp)] = try db.all(
                """
                SELECT d.notification_id, d.next_attempt_at FROM streams s
                JOIN notifications n ON n.stream_id = s.id AND n.state = 'open'
                JOIN deliveries d ON d.notification_id = n.id AND d.sink = ?1 AND d.state = 'pending'
                WHERE s.account = ?2 AND d.is_held = 0 AND d.leased_until IS NULL
                    AND d.due_since <= ?3 AND d.next_attempt_at > ?3
                """,
                [sink, db.key(account), now.milliseconds]
            ) { (try $0["notification_id"], try $0["next_attempt_at"]) }
            for (notification, _) in waiting {
                try db.run(
                    "UPDATE deliveries SET next_attempt_at = ? WHERE notification_id = ? AND sink = ?",
                    [now.milliseconds, notification, sink]
                )
            }
            return (waiting.count, waiting.map(\.1).max())
        }
    }
}

extension NotificationRows {
    /// Matches notifications that no row announces again: repetitions, current staleness notices and feature notices.
    /// Digests have their own end, and a withdrawal is only for the sinks that have the notice.
    private static let isItsOwn = "(n.repeats IS NOT NULL OR \(isNotice))"

    /// Matches current staleness notices and feature notices.
    static let isNotice = """
        (EXISTS (SELECT 1 FROM staleness_notices t WHERE t.notification_id = n.id)
            OR EXISTS (SELECT 1 FROM feature_notices f WHERE f.token = n.token))
        """

    func isToBeReaddressed(_ notification: Int64) throws -> Bool {
        try db.integer("SELECT count(*) FROM notifications n WHERE n.id = ? AND \(Self.isItsOwn)", [notification]) == 1
    }

    /// The account's open notifications without a due sink, with their delivery times.
    func stranded(of account: DID) throws -> [(id: Int64, dueAt: Timestamp)] {
        try db.all(
            """
            SELECT n.id, (SELECT max(next_attempt_at) FROM deliveries d WHERE d.notification_id = n.id) AS due
            FROM streams s JOIN notifications n ON n.stream_id = s.id
            WHERE s.account = ? AND n.state = 'open' AND \(Self.isItsOwn)
                AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.notification_id = n.id AND d.state = 'pending')
            """,
            [db.key(account)]
        ) { (try $0["id"], try $0["due"] ?? Timestamp(milliseconds: 0)) }
    }
}
