package import StarwatchCore

/// The deletion of what has expired.
package struct StoreRetention: Sendable {
    let store: Store

    /// Deletes expired rows in short transactions, and empties the write-ahead log.
    ///
    /// Rows that the server can send again stay, however old: those near or above the lowest place where a walk can begin.
    /// Without them the last change of a quiet stream would be announced every week. Rows of a former dialect do not
    /// stay.
    ///
    /// Rows that an optional sink has not got stay too: it can hold them or be down, and be given up later.
    ///
    /// Other work runs between the transactions, because retention is not urgent.
    ///
    /// - Returns: The numbers of deleted rows by table. Those of an account count as its row of `settings`.
    package func apply(_ policy: RetentionPolicy, now: Timestamp) async throws(StoreError) -> [String: Int] {
        var counts: [String: Int] = [:]
        let streams: [Int64] = try await store.direct(.read) { db in try db.values("SELECT id FROM streams ORDER BY id")
        }
        for stream in streams {
            var next: String? = ""
            while let after = next {
                let (last, deleted) = try await cleanOutbox(of: stream, after: after, policy, now)
                counts["notification_outbox", default: 0] += deleted
                next = last
            }
        }
        for expiry in policy.expiries {
            let time = (now - expiry.age).milliseconds
            // `DELETE FROM TABLE …`
            let table = String(expiry.statement.split(separator: " ", maxSplits: 3)[2])
            counts[table, default: 0] += try await delete { db in try db.changed(expiry.statement, [time]) }
        }
        counts["delivery_attempts", default: 0] += try await delete { db in
            try db.deliveries.trimAttempts(keep: Self.keptAttempts)
        }
        try await trimFormerStates()
        counts["log_entries", default: 0] += try await delete { db in try StoreLogs.trimWarnings(db) }
        let accounts = try await cleanAccounts(policy, now)
        counts.merge(["watermarks": accounts.watermarks, "settings": accounts.settings]) { $1 }
        UpgradeCopy(path: store.options.path)
            .removeExpired(after: policy.copies ?? store.options.keepBeforeUpgrade, now: now)
        try await store.status.checkpoint()
        return counts
    }

    /// The maximum number of stored attempts, and of former states. A sink that is down for a week would otherwise fill the disk.
    static let keptAttempts = 100_000

    private func trimFormerStates() async throws(StoreError) {
        var next: Int64? = 0
        while let after = next {
            next = try await store.direct(.retention) { db in
                try db.formerStates.trim(after: after, keep: Self.keptAttempts).last
            }
        }
    }

    private func delete(_ rows: @Sendable (Session) throws -> Int) async throws(StoreError) -> Int {
        try await store.direct(.retention) { db in try rows(db) }
    }

    /// Deletes the expired rows among the next thousand of a stream.
    ///
    /// - Returns: The last of the thousand and the number of deleted rows; `nil` if there was no row.
    private func cleanOutbox(
        of stream: Int64,
        after: String,
        _ policy: RetentionPolicy,
        _ now: Timestamp
    ) async throws(StoreError) -> (last: String?, deleted: Int) {
        let ended = (now - policy.delivered).milliseconds
        let history = (now - policy.history).milliseconds
        let dead = (now - policy.dead).milliseconds
        let newest = max(ended, max(history, dead))
        return try await store.write(.retention) { db in
            let guardID = try db.streams.retained(stream, policy)
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
                DELETE FROM notification_outbox AS o WHERE \(isNext) AND jwt_id <= ?4 AND (
                    (state IN ('acknowledged', 'cancelled') AND finished_at < ?5
                        AND NOT (state = 'acknowledged' AND EXISTS (SELECT 1 FROM deliveries d
                            WHERE d.notification_id = o.notification_id
                                AND (d.state = 'pending' OR d.\(Schema.isLost)))))
                    OR (state = 'suppressed' AND finished_at < ?5
                        AND (acknowledged_at IS NOT NULL OR origin = 'bootstrap' OR finished_at < ?6)
                        AND NOT \(OutboxRows.areCounted(in: "?1")))
                    OR (state = 'dead' AND finished_at < ?7))
                """,
                [stream, after, guardID, last, ended, history, dead]
            )
            db.context.record(.cleaned, deleted)
            return (last, deleted)
        }
    }

    private func cleanAccounts(
        _ policy: RetentionPolicy,
        _ now: Timestamp
    ) async throws(StoreError) -> (watermarks: Int, settings: Int) {
        try await store.write(.retention) { db in
            let watermarks = try db.streams.forgetWatermarks(unpolledSince: now - policy.watermarks, now)
            let settings = try db.identity.deleteAccounts(
                inactiveSince: now - policy.settings,
                removedBefore: now - policy.removed
            )
            return (watermarks, settings)
        }
    }
}

extension StreamRows {
    /// The identifier at and above which rows stay; the largest possible for a stream that will start again.
    fileprivate func retained(_ stream: Int64, _ policy: RetentionPolicy) throws -> String {
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

    /// Deletes the cursors and watermarks of streams that are no longer polled, and what was seen of lists.
    ///
    /// - Returns: The number of watermarks.
    fileprivate func forgetWatermarks(unpolledSince time: Timestamp, _ now: Timestamp) throws -> Int {
        var count = 0
        let old: [Int64] = try db.values("SELECT id FROM streams WHERE last_attempt < ?", [time.milliseconds])
        for id in old {
            try db.outbox.cancelTombstones(of: id, now)
            try restart("id = ?", [id])
            try db.outbox.lists.forget(id)
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

extension IdentityRows {
    /// Deletes inactive and removed accounts with all their data. An inactive one with a choice of its own stays.
    ///
    /// - Returns: The number of accounts.
    fileprivate func deleteAccounts(inactiveSince: Timestamp, removedBefore: Timestamp) throws -> Int {
        let unused: [(account: String, preferences: String)] = try db.all(
            """
            SELECT s.accountDid, CASE WHEN r.account IS NULL THEN s.notificationPreferences ELSE '{}' END AS preferences
            FROM settings s LEFT JOIN removed_accounts r ON r.account = s.accountDid AND r.removed_at < ?2
            WHERE NOT EXISTS (SELECT 1 FROM active_identity WHERE activeDid = s.accountDid)
                AND NOT EXISTS (SELECT 1 FROM accounts WHERE account = s.accountDid) AND (
                r.account IS NOT NULL
                OR s.updated_at < ?1
                    AND NOT EXISTS (SELECT 1 FROM streams WHERE account = s.accountDid AND last_attempt >= ?1))
            """,
            [inactiveSince.milliseconds, removedBefore.milliseconds]
        ) { (try $0["accountDid"], try $0["preferences"]) }
        let idle = unused.filter { WantedPolls.isWithoutChoice($0.preferences) }.map(\.account)
        for account in idle { try delete(account: account) }
        try db.run("DELETE FROM feature_notices WHERE account NOT IN (SELECT accountDid FROM settings)")
        // A host application that owns the database can have restored an account itself.
        try db.run(
            """
            DELETE FROM removed_accounts WHERE account = (SELECT activeDid FROM active_identity)
                OR account IN (SELECT account FROM accounts)
                OR account NOT IN (SELECT accountDid FROM settings)
            """
        )
        return idle.count
    }

    /// Deletes everything of an account. In an encrypted database its keys are destroyed first.
    ///
    /// - Parameter account: The stored form.
    func delete(account: String) throws {
        try db.dataKeys.forget(account)
        try db.formerStates.delete(account: account)
        for table in ["notifications", "notification_outbox"] {
            let streams = "(SELECT id FROM streams WHERE account = ?)"
            try db.run("DELETE FROM \(table) WHERE stream_id IN \(streams)", [account])
        }
        for (table, column) in SealedTable.accounts where column == "account" {
            try db.run("DELETE FROM \(table) WHERE account = ?", [account])
        }
        // Last, because the account refers to them.
        try db.run("DELETE FROM settings WHERE accountDid = ?", [account])
    }
}
