package import StarwatchCore

extension Store {
    /// Deletes expired rows in short transactions, and empties the write-ahead log (R-STO-20).
    ///
    /// Rows that the server can send again stay, however old: those near or above the lowest place where a walk can begin.
    /// Without them the last change of a quiet stream would be announced every week. Rows of a former dialect do not
    /// stay.
    ///
    /// Other work runs between the transactions, because retention is not urgent.
    package nonisolated func retention(
        _ policy: RetentionPolicy,
        now: Timestamp
    ) async throws(StoreError) -> RetentionCounts {
        var counts = RetentionCounts()
        for stream in try await streamRows() {
            var next: String? = ""
            while let after = next {
                let (last, deleted) = try await cleanOutbox(stream, after: after, policy, now)
                counts.outbox += deleted
                next = last
            }
        }
        func before(_ age: Duration) -> Int64 { (now - age).milliseconds }
        // A staleness notice must be withdrawn from the sinks that have it, however late.
        let standing = "(SELECT notification_id FROM staleness_notices)"
        let timed: [(String, Duration, WritableKeyPath<RetentionCounts, Int>)] = [
            (
                // The row of one sink must stay while another sink is due or can be retried. A sink's dead letter stays
                // with its notification.
                """
                DELETE FROM deliveries WHERE state <> 'pending' AND updated_at < ?
                    AND notification_id NOT IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost))
                    AND notification_id NOT IN (SELECT id FROM notifications WHERE state IN ('open', 'dead'))
                    AND notification_id NOT IN \(standing)
                """, policy.deliveries, \.deliveries
            ),
            (
                """
                DELETE FROM notifications WHERE state NOT IN ('open', 'dead') AND finished_at < ?
                    AND id NOT IN \(standing)
                    AND id IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost))
                """, policy.dead, \.notifications
            ),
            (
                """
                DELETE FROM notifications WHERE state <> 'open' AND finished_at < ? AND id NOT IN \(standing)
                    AND (state = 'dead' OR id NOT IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost)))
                    AND (state <> 'dead' OR NOT EXISTS (SELECT 1 FROM notification_outbox o
                        WHERE o.state = 'dead' AND o.stream_id = notifications.stream_id
                            AND o.notification_id = notifications.id))
                """, policy.history, \.notifications
            ),
            (
                """
                DELETE FROM feature_notices WHERE finished_at < ?
                    AND token NOT IN (SELECT token FROM notifications WHERE state = 'open')
                """, policy.history, \.notifications
            ),
            ("DELETE FROM feed WHERE created_at < ?", policy.history, \.notifications),
            ("DELETE FROM shortlinks WHERE expires_at <= ?", .zero, \.shortlinks),
            ("DELETE FROM quarantine WHERE seen_at < ?", policy.quarantine, \.history),
            ("DELETE FROM history WHERE finished_at < ?", policy.history, \.history),
            (
                "DELETE FROM notif_contents WHERE coalesce(validated_at, fetched_at) < ?", policy.deliveries, \.slots
            ),
            ("DELETE FROM notif_deliveries WHERE fire_at < ?", policy.deliveries, \.slots),
            ("DELETE FROM log_entries WHERE level >= 2 AND created_at < ?", policy.errorLogs, \.logs),
            ("DELETE FROM delivery_attempts WHERE finished_at < ?", policy.deliveries, \.deliveries),
            ("DELETE FROM page_fetches WHERE answered_at < ?", policy.history, \.history),
            ("DELETE FROM watermark_moves WHERE moved_at < ?", policy.history, \.history),
            ("DELETE FROM starred_archive WHERE archived_at < ?", policy.archivedStars, \.archivedStars),
            ("DELETE FROM poll_schedules WHERE updated_at < ?", policy.watermarks, \.watermarks),
            // A window matters for a minute only.
            ("DELETE FROM request_windows WHERE spent_at < ?", .days(1), \.windows),
        ]
        for (sql, age, key) in timed {
            counts[keyPath: key] += try await delete(sql, before(age))
        }
        counts.deliveries += try await trim { db in try db.trimAttempts(keep: Self.keptAttempts) }
        counts.logs += try await trim { db in try db.trimWarnings() }
        (counts.watermarks, counts.settings) = try await cleanAccounts(policy, now)
        try await checkpoint()
        return counts
    }

    private func streamRows() throws(StoreError) -> [Int64] {
        try direct(.read) { db in try db.values("SELECT id FROM streams ORDER BY id") }
    }

    /// The maximum number of stored attempts. A sink that is down for a week would otherwise fill the disk.
    static let keptAttempts = 100_000

    private func trim(_ delete: @Sendable (Session) throws -> Int) throws(StoreError) -> Int {
        try direct(.retention) { db in try delete(db) }
    }

    private func delete(_ sql: String, _ time: Int64) throws(StoreError) -> Int {
        try direct(.retention) { db in try db.changed(sql, [time]) }
    }

    /// Deletes the expired rows among the next thousand of a stream.
    ///
    /// - Returns: The last of the thousand and the number of deleted rows; `nil` if there was no row.
    private func cleanOutbox(
        _ stream: Int64,
        after: String,
        _ policy: RetentionPolicy,
        _ now: Timestamp
    ) throws(StoreError) -> (last: String?, deleted: Int) {
        let ended = (now - policy.delivered).milliseconds
        let history = (now - policy.history).milliseconds
        let dead = (now - policy.dead).milliseconds
        let newest = max(ended, max(history, dead))
        return try write(.retention) { db in
            let guardID = try retained(stream, policy, db)
            // The next thousand rows of the stream that lie below the guard or are of another kind.
            let isNext = """
                stream_id = ?1 AND jwt_id > ?2
                AND (jwt_id < ?3 OR (length(?3) > 1 AND (substr(jwt_id, 11, 1) = '_') <> (substr(?3, 11, 1) = '_')))
                """
            let last: String? = try db.value(
                """
                SELECT max(jwt_id) FROM (SELECT jwt_id FROM notification_outbox
                    WHERE \(isNext) AND created_at < ?4
                    ORDER BY jwt_id LIMIT 1000)
                """,
                [stream, after, guardID, newest]
            )
            guard let last else { return (nil, 0) }
            let deleted = try db.changed(
                """
                DELETE FROM notification_outbox WHERE \(isNext) AND jwt_id <= ?4 AND (
                    (state IN ('acknowledged', 'cancelled') AND finished_at < ?5
                        AND NOT (state = 'acknowledged' AND EXISTS (SELECT 1 FROM deliveries d
                            WHERE d.notification_id = notification_outbox.notification_id AND d.\(Schema.isLost))))
                    OR (state = 'suppressed' AND finished_at < ?5
                        AND (acknowledged_at IS NOT NULL OR origin = 'bootstrap' OR finished_at < ?6))
                    OR (state = 'dead' AND finished_at < ?7))
                """,
                [stream, after, guardID, last, ended, history, dead]
            )
            record(.cleaned, deleted)
            return (last, deleted)
        }
    }

    /// The identifier at and above which rows stay; the largest possible for a stream that will start again.
    private func retained(_ stream: Int64, _ policy: RetentionPolicy, _ db: Session) throws -> String {
        let row = try db.row(
            """
            SELECT s.fetch_cursor, w.watermark, s.bootstrapped_at, s.seen_until, s.walk_top, s.walk_after FROM streams s
            LEFT JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll WHERE s.id = ?
            """,
            [stream]
        )
        guard let row, try row["bootstrapped_at"] as Timestamp? != nil else { return "~" }
        guard let cursor: JWTID = try row["fetch_cursor"], let watermark: JWTID = try row["watermark"] else {
            return ""
        }
        // Near the watermark too: a tombstone just above it moves the cursor back, and a poll then fetches the overlap.
        var lowest = min(cursor.timestamp, watermark.timestamp)
        if let seen: Timestamp = try row["seen_until"] {
            lowest = min(lowest, seen - SeenHorizon.longestStep(kept: policy.delivered))
        }
        if try row["walk_top"] as JWTID? != nil {
            // An interrupted walk, which continues to its lower end.
            guard let end: JWTID = try row["walk_after"] else { return "" }
            lowest = min(lowest, end.timestamp)
        }
        return JWTID.floor(cursor.kind, at: lowest - .seconds(600)).rawValue
    }

    private func cleanAccounts(
        _ policy: RetentionPolicy,
        _ now: Timestamp
    ) throws(StoreError) -> (watermarks: Int, settings: Int) {
        let counts = try write(.retention) { db in
            let watermarks = try forgetWatermarks(unpolledSince: now - policy.watermarks, db, now)
            let settings = try db.deleteAccounts(
                inactiveSince: now - policy.settings,
                removedBefore: now - policy.removed
            )
            return (watermarks, settings)
        }
        if counts.1 > 0 { streamIDs.removeAll() }
        return counts
    }

    /// Deletes the cursors and watermarks of streams that are no longer polled.
    ///
    /// - Returns: The number of watermarks.
    private func forgetWatermarks(unpolledSince time: Timestamp, _ db: Session, _ now: Timestamp) throws -> Int {
        var count = 0
        let old: [Int64] = try db.values("SELECT id FROM streams WHERE last_attempt < ?", [time.milliseconds])
        for id in old {
            try cancelTombstones(of: id, db, now)
            try db.restartStreams("id = ?", [id])
            count += try db.changed(
                """
                DELETE FROM watermarks WHERE (account, server, poll) =
                    (SELECT account, server, poll FROM streams WHERE id = ?)
                """,
                [id]
            )
        }
        return count
    }
}

extension Session {
    /// Deletes inactive and removed accounts with all their data.
    ///
    /// - Returns: The number of accounts.
    fileprivate func deleteAccounts(inactiveSince: Timestamp, removedBefore: Timestamp) throws -> Int {
        let idle: [String] = try values(
            """
            SELECT accountDid FROM settings WHERE accountDid IS NOT (SELECT activeDid FROM active_identity) AND (
                accountDid IN (SELECT account FROM removed_accounts WHERE removed_at < ?2)
                OR updated_at < ?1 AND notificationPreferences = '{}'
                    AND NOT EXISTS (SELECT 1 FROM streams WHERE account = accountDid AND last_attempt >= ?1))
            """,
            [inactiveSince.milliseconds, removedBefore.milliseconds]
        )
        for account in idle { try delete(account: account) }
        try run("DELETE FROM feature_notices WHERE account NOT IN (SELECT accountDid FROM settings)")
        // A host application that owns the database can have restored an account itself.
        try run(
            """
            DELETE FROM removed_accounts WHERE account = (SELECT activeDid FROM active_identity)
                OR account NOT IN (SELECT accountDid FROM settings)
            """
        )
        return idle.count
    }

    /// Deletes everything of an account. In an encrypted database its keys are destroyed first.
    ///
    /// - Parameter account: The stored form.
    func delete(account: String) throws {
        try forget(account)
        for table in ["notifications", "notification_outbox"] {
            let streams = "(SELECT id FROM streams WHERE account = ?)"
            try run("DELETE FROM \(table) WHERE stream_id IN \(streams)", [account])
        }
        for table in [
            "plan_snapshots", "starred_archive", "notif_contents", "notif_deliveries", "watermarks",
            "request_windows", "streams", "feature_notices", "removed_accounts", "signing_keys",
        ] {
            try run("DELETE FROM \(table) WHERE account = ?", [account])
        }
        try run("DELETE FROM settings WHERE accountDid = ?", [account])
    }
}
