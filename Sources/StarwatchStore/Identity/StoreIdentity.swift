package import StarwatchCore

/// The result of a change of identity.
package struct IdentityChange: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// Whether anything changed; `false` if the identity was already active.
    package let changed: Bool
    /// The number of the former identity's rows that will not be announced.
    package let cancelledRows: Int
}

/// The result of a request to remove an account.
package enum AccountRemoval: Sendable, Hashable {
    /// The account is marked for deletion since that time.
    case removed(at: Timestamp)
    /// The account is signed in, so it stays.
    case active
    /// The database contains nothing of the account.
    case unknown
}

/// The result of erasing an account.
package enum AccountErasure: Sendable, Hashable {
    /// The account is erased. `isPurged` is `false` if another program reads the database, so that copies of the deleted
    /// rows stay in its write-ahead log until the next cleanup after that. `keptCopy` is the file name of a copy from before
    /// an upgrade that cannot be deleted.
    case erased(isPurged: Bool, keptCopy: String? = nil)
    /// The account is the active identity. Nothing was erased.
    case active
    /// The database has nothing of the account.
    case unknown
}

/// The active identity and the accounts.
package struct StoreIdentity: Sendable {
    let store: Store

    /// The active identity and its generation.
    package func active() async throws(StoreError) -> ActiveIdentity {
        try await store.direct(.read) { db in try db.identity.active() }
    }

    /// Makes `did` the active identity, with all consequences, in one transaction (R-IDN-02).
    ///
    /// Cancels the former identity's open rows, and closes its notifications and acknowledgement batches. Archives the
    /// stars of both identities. Resets the new identity's watermarks, cursors and stars.
    ///
    /// - Parameters:
    ///   - did: The new identity; `nil` signs out. The active identity changes nothing.
    ///   - server: The server for the new identity's settings, in the form of ``StreamKey/server``.
    package func set(_ did: DID?, server: String, now: Timestamp) async throws(StoreError) -> IdentityChange {
        try await store.write(.identity) { db in
            try db.dataKeys.restore(did)
            let former = try db.identity.active()
            guard former.did != did else {
                try db.run("UPDATE active_identity SET lastUpdated = coalesce(lastUpdated, ?)", [now.milliseconds])
                return IdentityChange(identity: former, changed: false, cancelledRows: 0)
            }
            var cancelled = 0
            if let old = former.did {
                cancelled = try db.identity.close(account: old, now: now)
                try db.stars.archive(of: old, now: now)
            }
            if let did {
                try db.identity.ensureSettings(did, server: server, now: now)
                try db.stars.archive(of: did, now: now)
                try db.run(
                    """
                    UPDATE settings SET apiServer = ?, starsSeeded = 1, lastAckedStarredPlanChangesJwtId = NULL,
                        lastAckedTimestamp = NULL, updated_at = ? WHERE accountDid = ?
                    """,
                    [server, now.milliseconds, db.key(did)]
                )
                try db.streams.restart("account = ?", [db.key(did)])
                try db.deliveries.freeLeases(of: did)
                try db.run(
                    "UPDATE watermarks SET watermark = NULL, updated_at = ? WHERE account = ?",
                    [now.milliseconds, db.key(did)]
                )
            }
            let identity = try db.identity.point(to: did, generation: former.generation + 1, now: now)
            return IdentityChange(identity: identity, changed: true, cancelledRows: cancelled)
        }
    }

    /// Activates the configured identity if the database never had one.
    ///
    /// An identity that signed out stays signed out. If the settings name another server, the mirror of the watermark
    /// is reset; cursors belong to (account, server, poll) anyway.
    package func seedIfEmpty(_ did: DID?, server: String, now: Timestamp) async throws(StoreError) -> ActiveIdentity {
        try await store.write(.identity) { db in
            try db.dataKeys.restore(did)
            let current = try db.identity.active()
            if let active = current.did {
                try db.run(
                    """
                    UPDATE settings SET apiServer = ?1, lastAckedStarredPlanChangesJwtId = NULL,
                        lastAckedTimestamp = NULL, updated_at = ?2 WHERE accountDid = ?3 AND apiServer <> ?1
                    """,
                    [server, now.milliseconds, db.key(active)]
                )
                return current
            }
            let never = try db.integer("SELECT lastUpdated IS NULL FROM active_identity") == 1
            guard never, let did else { return current }
            try db.identity.ensureSettings(did, server: server, now: now)
            return try db.identity.point(to: did, generation: current.generation + 1, now: now)
        }
    }

    /// Marks an account for deletion with all its data, ``RetentionPolicy/removed`` from now (R-IDN-10). An earlier
    /// mark keeps its date. Signing in removes the mark.
    package func removeAccount(_ did: DID, now: Timestamp) async throws(StoreError) -> AccountRemoval {
        try await store.write(.identity) { db in
            if try db.identity.isActive(did) { return .active }
            let known = try db.integer("SELECT count(*) FROM settings WHERE accountDid = ?", [db.key(did)])
            guard known == 1 else { return .unknown }
            try db.run(
                "INSERT INTO removed_accounts (account, removed_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [db.key(did), now.milliseconds]
            )
            let removedAt = try db.integer("SELECT removed_at FROM removed_accounts WHERE account = ?", [db.key(did)])
            return .removed(at: Timestamp(milliseconds: Int64(removedAt)))
        }
    }

    /// Deletes everything of an account now, also from free pages and the write-ahead log. In an encrypted database its
    /// keys are destroyed first, so that copies of the file hold nothing readable of it.
    ///
    /// - Returns: Whether it was erased, or why not.
    package func eraseAccount(_ did: DID) async throws(StoreError) -> AccountErasure {
        try await store.perform { store throws(StoreError) in
            let result: AccountErasure = try store.write(.identity) { db in
                if try db.identity.isActive(did) { return .active }
                let account = db.key(did)
                let known = try db.integer(
                    """
                    SELECT EXISTS (SELECT 1 FROM settings WHERE accountDid = ?1)
                        OR EXISTS (SELECT 1 FROM streams WHERE account = ?1)
                    """,
                    [account]
                )
                guard known == 1 else { return .unknown }
                try ExpiredRows(db: db).delete(account: account)
                return .erased(isPurged: false)
            }
            store.streamIDs.removeAll()
            guard result == .erased(isPurged: false) else { return result }
            let kept = UpgradeCopy(path: store.options.path).removeAll()
            // Deleted content is overwritten with zeros in the file (`secure_delete`), but stands in the log until this.
            return .erased(isPurged: try store.emptyLog(), keptCopy: kept)
        }
    }

    /// Stores the account's `notificationPreferences`.
    ///
    /// - Parameter json: A JSON object. The schema rejects other texts.
    package func setNotificationPreferences(
        _ json: String,
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) {
        try await store.write(.identity, of: account) { db in
            try db.identity.ensureSettings(account, server: server, now: now)
            try db.run(
                "UPDATE settings SET notificationPreferences = ?, updated_at = ? WHERE accountDid = ?",
                [json, now.milliseconds, db.key(account)]
            )
        }
    }
}

/// The identities, in one access.
struct IdentityRows {
    let db: Session

    /// Cancels the open rows of an identity that signs out. Includes tombstones, because nothing will fetch them again.
    func close(account: DID, now: Timestamp) throws -> Int {
        var total = 0
        try db.withdrawFeatures(of: account)
        for id in try streamIDs(of: account) {
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
        try db.run("DELETE FROM notif_contents WHERE account = ?", [db.key(account)])
        try db.run("DELETE FROM feed")
        try db.run("DELETE FROM notif_deliveries WHERE account = ?", [db.key(account)])
        try db.run("DELETE FROM digest_progress WHERE account = ?", [db.key(account)])
        try db.run("DELETE FROM plan_snapshots WHERE account = ?", [db.key(account)])
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
        try db.integer(
            "SELECT count(*) FROM active_identity WHERE activeDid = ? AND generation = ?",
            [db.key(account), generation]
        ) == 1
    }

    /// Whether `account` is the active identity. The rows of other accounts are neither claimed nor acknowledged.
    func isActive(_ account: DID) throws -> Bool {
        try db.integer("SELECT count(*) FROM active_identity WHERE activeDid = ?", [db.key(account)]) == 1
    }

    func ensureSettings(_ account: DID, server: String, now: Timestamp) throws {
        try db.dataKeys.enrol(account)
        let key = db.key(account)
        try db.run(
            """
            INSERT INTO settings (accountDid, apiServer, starredPlanHandleIds, created_at, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (accountDid) DO NOTHING
            """,
            [key, server, try db.sealed("[]", .stars, of: key, row: key), now.milliseconds]
        )
    }

    func streamIDs(of account: DID) throws -> [Int64] {
        try db.values("SELECT id FROM streams WHERE account = ?", [db.key(account)])
    }

    func point(to did: DID?, generation: Int, now: Timestamp) throws -> ActiveIdentity {
        try db.run(
            "UPDATE active_identity SET activeDid = ?, generation = ?, lastUpdated = ?",
            [did.map(db.key), generation, now.milliseconds]
        )
        if let did { try db.run("DELETE FROM removed_accounts WHERE account = ?", [db.key(did)]) }
        return ActiveIdentity(did: did, generation: generation)
    }
}
