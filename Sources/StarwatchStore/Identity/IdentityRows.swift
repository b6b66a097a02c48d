import StarwatchCore

/// The identities, in one access.
struct IdentityRows {
    let db: Session

    /// Cancels the open rows of an identity that signs out. Includes tombstones, because nothing will fetch them again.
    func close(account: DID, now: Timestamp) throws -> Int {
        var total = 0
        try db.notifications.withdrawNotices(of: account)
        for id in try streamIDs(of: account) {
            try db.outbox.lists.forgetOpen(of: id)
            try db.formerStates.keep(
                rows: "state IN ('pending', 'claimed', 'evicted') AND stream_id = ?3 AND \(Schema.isOpen)",
                [id],
                as: .cancelled,
                now
            )
            let rows = try db.changed(
                // A row that a sink has keeps its notification, so that it is not announced again when the identity
                // returns.
                """
                UPDATE notification_outbox AS o SET state = 'cancelled', finished_at = ?, notification_id =
                    (SELECT d.notification_id FROM deliveries d
                        WHERE d.notification_id = o.notification_id AND d.state = 'ok' LIMIT 1)
                WHERE state IN ('pending', 'claimed', 'evicted') AND stream_id = ? AND \(Schema.isOpen)
                """,
                [now.milliseconds, id]
            )
            try db.ledger.add(rows, as: \.cancelled, to: id)
            try db.notifications.cancelOpen(
                "(SELECT id FROM notifications WHERE state = 'open' AND stream_id = ?1)",
                id,
                now
            )
            try db.run("DELETE FROM ack_batches WHERE stream_id = ?", [id])
            try db.run("DELETE FROM staleness_notices WHERE stream_id = ?", [id])
            try db.run(
                "DELETE FROM shortlinks WHERE notification_id IN (SELECT id FROM notifications WHERE stream_id = ?)",
                [id]
            )
            total += rows
        }
        try db.run("UPDATE feeds SET token = NULL, sealed_token = NULL WHERE account = ?", [db.key(account)])
        for table in ["feed", "notif_contents", "notif_deliveries", "digest_progress", "plan_snapshots"] {
            try db.run("DELETE FROM \(table) WHERE account = ?", [db.key(account)])
        }
        db.context.record(.cancelled, total)
        return total
    }

    func active() throws -> ActiveIdentity {
        guard let row = try db.row("SELECT activeDid, generation FROM active_identity") else {
            throw StoreError.damaged
        }
        return ActiveIdentity(did: try (row["activeDid"] as String?).map(db.account), generation: try row["generation"])
    }

    /// Whether a poll that began as `account` under `generation` can still write.
    func isCurrent(_ account: DID, generation: Int) throws -> Bool {
        try self.generation(of: account) == generation
    }

    /// Whether `account` is the active identity, or served and not paused. The rows of other accounts are neither claimed
    /// nor acknowledged.
    func isActive(_ account: DID) throws -> Bool { try generation(of: account) != nil }

    /// The generation of an active account; `nil` for other accounts.
    func generation(of account: DID) throws -> Int? {
        try db.value("SELECT generation FROM identities WHERE account = ?", [db.key(account)])
    }

    /// Whether `account` is the active identity, even if it is not served.
    func isSignedIn(_ account: DID) throws -> Bool {
        try db.integer("SELECT count(*) FROM active_identity WHERE activeDid = ?", [db.key(account)]) == 1
    }

    /// - Parameter stars: The stars of an account that is not stored yet; `nil` if they were never written.
    func ensureSettings(_ account: DID, server: String, stars: [String]? = nil, now: Timestamp) throws {
        try db.dataKeys.enrol(account)
        let key = db.key(account)
        try db.run(
            """
            INSERT INTO settings (accountDid, apiServer, starredPlanHandleIds, created_at, updated_at, starsSeeded)
            VALUES (?1, ?2, ?3, ?4, ?4, ?5) ON CONFLICT (accountDid) DO NOTHING
            """,
            [
                key, server, try db.sealed(jsonArray(stars ?? []), .stars, of: key, row: key), now.milliseconds,
                stars != nil,
            ]
        )
    }

    /// Gives an account another server. Its cursors are those of another stream, and stay.
    ///
    /// - Returns: Whether it had another one.
    func move(_ account: DID, to server: String, now: Timestamp) throws -> Bool {
        try db.changed(
            """
            UPDATE settings SET apiServer = ?1, lastAckedStarredPlanChangesJwtId = NULL, lastAckedTimestamp = NULL,
                updated_at = ?2 WHERE accountDid = ?3 AND apiServer <> ?1
            """,
            [server, now.milliseconds, db.key(account)]
        ) == 1
    }

    /// Begins the work for a known account anew: later changes are new.
    func restart(_ account: DID, server: String, now: Timestamp) throws {
        let key = db.key(account)
        try db.run(
            """
            UPDATE settings SET apiServer = ?, starsSeeded = 1, lastAckedStarredPlanChangesJwtId = NULL,
                lastAckedTimestamp = NULL, updated_at = ? WHERE accountDid = ?
            """,
            [server, now.milliseconds, key]
        )
        try db.streams.restart("account = ?", [key])
        try db.deliveries.freeLeases(of: account)
        try db.run("UPDATE watermarks SET watermark = NULL, updated_at = ? WHERE account = ?", [now.milliseconds, key])
    }

    /// Marks an account for deletion. An earlier mark stays.
    ///
    /// - Returns: The date of the mark.
    func markRemoved(_ account: DID, now: Timestamp) throws -> Timestamp {
        try db.run(
            "INSERT INTO removed_accounts (account, removed_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [db.key(account), now.milliseconds]
        )
        return try removedAt(account) ?? now
    }

    /// The date of an account's mark for deletion; `nil` if it has none.
    func removedAt(_ account: DID) throws -> Timestamp? {
        try db.value("SELECT removed_at FROM removed_accounts WHERE account = ?", [db.key(account)])
    }

    func streamIDs(of account: DID) throws -> [Int64] {
        try db.values("SELECT id FROM streams WHERE account = ?", [db.key(account)])
    }

    // MARK: - The active identity

    /// Makes `did` the active identity. If it was served, it is so no longer.
    func point(to did: DID?, generation: Int, now: Timestamp) throws -> ActiveIdentity {
        var generation = generation
        if let did, try db.accounts.leave(did) { generation = max(generation, try lastGeneration() + 1) }
        try db.run(
            "UPDATE active_identity SET activeDid = ?, generation = ?, lastUpdated = ?",
            [did.map(db.key), generation, now.milliseconds]
        )
        if let did {
            try db.run("DELETE FROM removed_accounts WHERE account = ?", [db.key(did)])
            // Followers of the active identity's feed continue with this one's. An erased account leaves only the row ids.
            try db.run(
                """
                INSERT INTO feeds (account, latest) SELECT ?1, max(latest) FROM
                    (SELECT latest FROM feeds UNION ALL SELECT seq FROM sqlite_sequence WHERE name = 'feed')
                    HAVING max(latest) > 0
                ON CONFLICT (account) DO UPDATE SET latest = excluded.latest
                """,
                [db.key(did)]
            )
        }
        return ActiveIdentity(did: did, generation: generation)
    }

    /// Signs the active identity out without an end of its work, which continues for a served account.
    func handOver(now: Timestamp) throws {
        try db.run(
            "UPDATE active_identity SET activeDid = NULL, generation = generation + 1, lastUpdated = ?",
            [now.milliseconds]
        )
    }

    /// The largest generation of the active identity and of every account that is no longer served.
    func lastGeneration() throws -> Int { try db.integer("SELECT generation FROM active_identity") }

    /// Keeps the number of an account that is no longer served from being used again.
    func raiseGeneration(to number: Int) throws {
        try db.run("UPDATE active_identity SET generation = ?1 WHERE generation < ?1", [number])
    }
}
