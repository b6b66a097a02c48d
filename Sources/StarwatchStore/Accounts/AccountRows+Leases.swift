import StarwatchCore

extension AccountRows {
    func claim(limit: Int, owner: String, now: Timestamp, until: Timestamp) throws -> [AccountLease] {
        let due: [(key: String, lease: AccountLease?)] = try db.all(
            """
            SELECT l.account, a.generation, l.epoch, l.due_at, CASE WHEN l.owner IS NULL THEN 1 ELSE 0 END AS is_free,
                CASE WHEN EXISTS (
                    SELECT 1 FROM streams s WHERE s.account = l.account AND (
                        EXISTS (SELECT 1 FROM notification_outbox WHERE stream_id = s.id AND \(Schema.isOpen)
                            AND state IN ('pending', 'claimed', 'delivered'))
                        OR EXISTS (SELECT 1 FROM notification_outbox WHERE stream_id = s.id AND state = 'suppressed'
                            AND acknowledged_at IS NULL AND origin = 'poll')
                        OR EXISTS (SELECT 1 FROM notifications n WHERE n.stream_id = s.id AND n.state = 'open')
                    )
                ) OR a.updated_at >= coalesce(l.last_attempt, 0) THEN 1 ELSE 0 END AS has_open_rows
            FROM leases l JOIN accounts a ON a.account = l.account
            WHERE l.due_at <= ? AND a.status = 'active' ORDER BY l.due_at, l.account LIMIT ?
            """,
            [now.milliseconds, limit + db.context.leases.count]
        ) { row in
            let key: String = try row["account"]
            let lease = try ifReadable { try db.account(key) }.map { account in
                AccountLease(
                    account: account,
                    generation: try row["generation"],
                    epoch: try row["epoch"] + 1,
                    owner: owner,
                    dueAt: try row["due_at"],
                    wasReleased: try row["is_free"],
                    hasOpenRows: try row["has_open_rows"]
                )
            }
            return (key, lease)
        }
        // A visit that outlives its lease is still under way here.
        let free = due.filter { $0.lease.map { db.context.leases[$0.account] == nil } ?? true }.prefix(limit)
        for (key, lease) in free {
            // Also of an account that does not open, which would otherwise be in the way of the others.
            try db.run(
                "UPDATE leases SET due_at = ?, owner = ?, epoch = epoch + 1 WHERE account = ?",
                [until.milliseconds, owner, key]
            )
            if let lease, !lease.wasReleased { try db.deliveries.freeLeases(of: lease.account) }
        }
        return free.compactMap(\.lease)
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
        let changed: Timestamp? = try db.value(
            "SELECT updated_at FROM accounts WHERE account = ? AND generation <> ?",
            [db.key(lease.account), lease.generation]
        )
        let due = min(end.next, changed ?? end.next)
        return try db.changed(
            """
            UPDATE leases SET due_at = ?, owner = NULL, last_attempt = coalesce(?, last_attempt),
                last_success = coalesce(?, last_success)
            WHERE account = ? AND owner = ? AND epoch = ?
            """,
            [
                due.milliseconds, end.attempted?.milliseconds, end.succeeded?.milliseconds, db.key(lease.account),
                lease.owner, lease.epoch,
            ]
        ) == 1
    }
}
