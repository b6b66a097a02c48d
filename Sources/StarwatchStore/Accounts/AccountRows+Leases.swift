import StarwatchCore

extension AccountRows {
    /// Whether an account has changes to deliver, which needs no server.
    private static let hasUndelivered = """
        EXISTS (
            SELECT 1 FROM streams s WHERE s.account = l.account AND (
                EXISTS (SELECT 1 FROM notification_outbox WHERE stream_id = s.id
                    AND \(Schema.isOpen) AND state IN ('pending', 'claimed'))
                OR EXISTS (SELECT 1 FROM notifications n WHERE n.stream_id = s.id AND n.state = 'open')
            )
        )
        """

    /// The condition on active accounts that `work` can be done for.
    static func can(_ work: VisitWork) -> String {
        switch work {
        case .all: "a.status = 'active'"
        case .delivery: "a.status = 'active' AND \(hasUndelivered)"
        }
    }

    /// - Parameter maxUndelivered: The limit that the remembered poll states are for.
    func claim(
        _ work: VisitWork,
        limit: Int,
        owner: String,
        now: Timestamp,
        until: Timestamp,
        maxUndelivered: Int = .max
    ) throws -> [AccountClaim] {
        // A visit that outlives its lease is still under way here.
        let free = try due(work, limit: limit, owner: owner, now: now)
        let update = try db.statement("UPDATE leases SET due_at = ?, owner = ?, epoch = epoch + 1 WHERE account = ?")
        // Also of an account that does not open, which would otherwise be in the way of the others.
        for due in free { try update.run([until.milliseconds, owner, due.key]) }
        var visited: [String: (did: DID, generation: Int, open: Int)] = [:]
        for case (let key, let claim?) in free {
            let lease = claim.lease
            if !lease.wasReleased { try db.deliveries.freeLeases(of: lease.account) }
            let open = lease.hasOpenRows ? try db.outbox.openCount(of: lease.account) : 0
            visited[key] = (lease.account, lease.generation, open)
        }
        let streams = Dictionary(
            grouping: visited.isEmpty ? [] : try db.streams.states(of: visited, maxUndelivered: maxUndelivered),
            by: \.key.account
        )
        return free.compactMap(\.claim).map { claim in
            var claim = claim
            claim.streams = streams[claim.lease.account] ?? []
            return claim
        }
    }

    /// The due accounts, the one that has not been polled for longest first.
    ///
    /// Not by the time at which they became due: a visit that may only deliver ends with a later one, and an account whose
    /// sink is down would move behind the others in each wait of the server.
    ///
    /// - Returns: The accounts that `owner` has no lease of, by their stored forms; `nil` as the claim of one that does not open.
    private func due(
        _ work: VisitWork,
        limit: Int,
        owner: String,
        now: Timestamp
    ) throws -> [(key: String, claim: AccountClaim?)] {
        var rest = limit
        return try db.all(
            """
            SELECT due.account, a.generation, due.epoch, due.due_at, CASE WHEN due.owner IS NULL THEN 1 ELSE 0 END AS is_free,
                CASE WHEN due.last_attempt IS NULL THEN 1 ELSE 0 END AS is_new,
                CASE WHEN EXISTS (
                    SELECT 1 FROM streams s WHERE s.account = due.account AND (
                        EXISTS (SELECT 1 FROM notification_outbox WHERE stream_id = s.id AND \(Schema.isOpen)
                            AND state IN ('pending', 'claimed', 'delivered'))
                        OR EXISTS (SELECT 1 FROM notification_outbox WHERE stream_id = s.id AND state = 'suppressed'
                            AND acknowledged_at IS NULL AND origin = 'poll')
                        OR EXISTS (SELECT 1 FROM notifications n WHERE n.stream_id = s.id AND n.state = 'open')
                    )
                ) THEN 1 ELSE 0 END AS has_rows,
                CASE WHEN a.updated_at >= coalesce(due.last_attempt, 0) THEN 1 ELSE 0 END AS was_changed,
                t.starredPlanHandleIds, t.notificationPreferences, w.window
            FROM (
                SELECT l.account, l.epoch, l.due_at, l.owner, l.last_attempt, coalesce(l.last_attempt, 0) AS place
                FROM leases l JOIN accounts a ON a.account = l.account
                WHERE l.due_at <= ? AND \(Self.can(work)) ORDER BY place, l.due_at, l.account LIMIT ?
            ) due JOIN accounts a ON a.account = due.account JOIN settings t ON t.accountDid = due.account
            LEFT JOIN request_windows w ON w.account = due.account
            ORDER BY due.place, due.due_at, due.account
            """,
            [now.milliseconds, limit + db.context.accounts.leases.count]
        ) { row -> (key: String, claim: AccountClaim?)? in
            guard rest > 0 else { return nil }
            let key: String = try row["account"]
            let did = try ifReadable { try db.account(key) }
            if let did, db.context.accounts.lease(of: did)?.owner == owner { return nil }
            rest -= 1
            return (key, try did.map { try claim(row, of: $0, owner: owner) })
        }.compactMap(\.self)
    }

    private func claim(_ row: SQLRow, of did: DID, owner: String) throws -> AccountClaim {
        let (generation, epoch): (Int, Int) = (try row["generation"], try row["epoch"])
        let (dueAt, isFree): (Timestamp, Bool) = (try row["due_at"], try row["is_free"])
        // A visit from before an account was removed or erased can have outlived that, and nothing counts its requests.
        let isNew: Bool = try row["is_new"]
        let isCounted = isFree && !isNew
        let (hasRows, wasChanged): (Bool, Bool) = (try row["has_rows"], try row["was_changed"])
        let (stars, preferences): (String, String) = (
            try row["starredPlanHandleIds"], try row["notificationPreferences"]
        )
        return AccountClaim(
            lease: AccountLease(
                account: did,
                generation: generation,
                epoch: epoch + 1,
                owner: owner,
                dueAt: dueAt,
                wasReleased: isFree,
                hasOpenRows: hasRows || wasChanged
            ),
            interests: try db.stars.interests(of: did, stars, preferences),
            window: RequestWindow(
                stored: try row["window"],
                reserved: isCounted ? AccountLease.requests : 0,
                uncounted: isCounted ? 0 : AccountLease.requests
            )
        )
    }

    /// Whether requests of an account can have gone that its stored window does not count: those of an owner, also one that has
    /// ended, that has not released it, or of a visit from before it was added.
    func hasUncounted(_ account: DID) throws -> Bool {
        try db.integer(
            "SELECT count(*) FROM leases WHERE account = ? AND (owner IS NOT NULL OR last_attempt IS NULL)",
            [db.key(account)]
        ) == 1
    }

    /// - Returns: Whether the lease is still held.
    func renew(_ lease: AccountLease, until: Timestamp) throws -> Bool {
        try db.changed(
            "UPDATE leases SET due_at = ? WHERE account = ? AND owner = ? AND epoch = ?",
            [until.milliseconds, db.key(lease.account), lease.owner, lease.epoch]
        ) == 1
    }

    /// - Returns: Whether the lease was still held.
    func release(_ end: LeaseEnd) throws -> Bool {
        let lease = end.lease
        // The lease can end with a change that the visit has not seen.
        return try db.changed(
            """
            UPDATE leases SET owner = NULL, last_attempt = coalesce(?2, last_attempt),
                last_success = coalesce(?3, last_success), due_at = (
                    SELECT CASE WHEN a.generation <> ?7 AND a.updated_at < ?1 THEN a.updated_at ELSE ?1 END
                    FROM accounts a WHERE a.account = ?4
                )
            WHERE account = ?4 AND owner = ?5 AND epoch = ?6
            """,
            [
                end.next.milliseconds, end.asked.attempted?.milliseconds, end.asked.succeeded?.milliseconds,
                db.key(lease.account), lease.owner, lease.epoch, lease.generation,
            ]
        ) == 1
    }

    /// Whether the lease of an account is still the one that was claimed here; true if none was.
    func hasLease(of account: DID) throws -> Bool {
        guard db.context.options.fencesWrites, let lease = db.context.accounts.lease(of: account) else { return true }
        return try db.integer(
            "SELECT count(*) FROM leases WHERE account = ? AND owner = ? AND epoch = ?",
            [db.key(account), lease.owner, lease.epoch]
        ) == 1
    }
}
