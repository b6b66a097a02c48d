import FoundationEssentials
package import StarwatchCore

/// The stars of an identity before a change of identity.
package struct ArchivedStars: Sendable, Hashable {
    package let stars: [String]
    package let archivedAt: Timestamp
}

extension Store {
    /// The starred plans of an account in the order of starring; empty for an unknown account.
    package func stars(of account: DID) throws(StoreError) -> [String] {
        try direct(.read) { db in try db.stars(of: account) }
    }

    /// The last seen names of an account's plans, by plan. Plans without a seen name are missing.
    package func planNames(of account: DID, server: String) throws(StoreError) -> [String: String] {
        try direct(.read) { db in
            let rows: [(plan: String, name: String?)] = try db.all(
                "SELECT plan_id, fields, coalesce(sealed_plan_id, plan_id) AS plan FROM plan_snapshots WHERE account = ? AND server = ?",
                [db.key(account), server]
            ) { row in
                let place = PlanSnapshots.row(server, try row["plan_id"])
                let plan = try ifReadable {
                    let json: String = try db.opened(row["fields"], .snapshotFields, row: place)
                    guard let details = PlanDetails(stored: json) else { throw StoreError.damaged }
                    return (try db.opened(row["plan"], .snapshotPlan, row: place) as String, details[.name])
                }
                return plan ?? ("", nil)
            }
            return Dictionary(uniqueKeysWithValues: rows.compactMap { row in row.name.map { (row.plan, $0) } })
        }
    }

    /// Replaces the starred plans. Duplicates count once.
    ///
    /// - Returns: The starred plans in the order of starring.
    package func setStars(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) throws(StoreError) -> [String] {
        try write(.stars) { db in try change(account, server, db, now) { _ in plans } }
    }

    /// Adds starred plans at the end. Plans that are already starred keep their position.
    package func addStars(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) throws(StoreError) -> [String] {
        try write(.stars) { db in try change(account, server, db, now) { $0 + plans } }
    }

    /// Removes starred plans. Ignores plans that are not starred.
    package func removeStars(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) throws(StoreError) -> [String] {
        let gone = Set(plans)
        return try write(.stars) { db in
            try change(account, server, db, now) { stars in stars.filter { !gone.contains($0) } }
        }
    }

    /// Adds the newest archived stars of an account; the archive keeps them (R-IDN-09).
    ///
    /// - Returns: The starred plans; unchanged if the archive is empty.
    package func restoreStars(of account: DID, server: String, now: Timestamp) throws(StoreError) -> [String] {
        try write(.stars) { db in
            let archived = try db.archivedStars(of: account, limit: 1).first?.stars ?? []
            return try change(account, server, db, now) { $0 + archived }
        }
    }

    /// Disables or enables the polls of starred plans for an account (R-IDN-10).
    ///
    /// Disabling suppresses pending rows, which are still acknowledged.
    ///
    /// - Returns: The starred plans, which stay.
    package func setStarsOptedOut(
        _ isOptedOut: Bool,
        of account: DID,
        server: String,
        now: Timestamp
    ) throws(StoreError) -> [String] {
        try write(.stars) { db in
            try db.ensureSettings(account, server: server, now: now)
            try db.run(
                """
                UPDATE settings SET updated_at = ?1, notificationPreferences = json_set(
                    json_remove(
                        iif(json_type(notificationPreferences) = 'object', notificationPreferences, '{}'),
                        '$.starred_projects'
                    ), '$.starredProjects', json(iif(?2, 'false', 'true'))) WHERE accountDid = ?3
                """,
                [now.milliseconds, isOptedOut, db.key(account)]
            )
            if isOptedOut { try suppress(plan: nil, of: account, db, now) }
            return try db.stars(of: account)
        }
    }

    /// Stores the configured plans if the account's stars were never written. Later the database decides.
    ///
    /// - Returns: The starred plans.
    package func seedStarsIfEmpty(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) throws(StoreError) -> [String] {
        try write(.stars) { db in
            try db.ensureSettings(account, server: server, now: now)
            let seeded = try db.integer(
                "SELECT starsSeeded FROM settings WHERE accountDid = ?",
                [db.key(account)]
            )
            let areUnreadable = try db.areStarsUnreadable(of: account)
            if seeded == 1 || areUnreadable { return try db.stars(of: account) }
            return try change(account, server, db, now) { _ in plans }
        }
    }

    /// The archived stars of an account, the newest first; kept for 30 days (R-IDN-09).
    package func archivedStars(of account: DID) throws(StoreError) -> [ArchivedStars] {
        try direct(.read) { db in try db.archivedStars(of: account) }
    }

    /// Moves an account's stars into the archive if it has any.
    func archiveStars(of account: DID, _ db: Session, now: Timestamp) throws {
        let stars = try db.stars(of: account)
        guard !stars.isEmpty else { return }
        let key = db.key(account)
        try db.run(
            "INSERT INTO starred_archive (account, plan_ids, archived_at) VALUES (?, ?, ?)",
            [
                key, try db.sealed(try jsonArray(stars), .archivedStars, of: key, row: "\(key)/\(now.milliseconds)"),
                now.milliseconds,
            ]
        )
        try db.setStars([], of: account)
    }

    private func change(
        _ account: DID,
        _ server: String,
        _ db: Session,
        _ now: Timestamp,
        _ edit: ([String]) -> [String]
    ) throws -> [String] {
        try db.ensureSettings(account, server: server, now: now)
        let before = try db.stars(of: account)
        var seen = Set<String>()
        let after = edit(before).filter { seen.insert($0).inserted }
        try db.setStars(after, of: account)
        try db.run(
            "UPDATE settings SET starsSeeded = 1, updated_at = ? WHERE accountDid = ?",
            [now.milliseconds, db.key(account)]
        )
        for plan in before where !seen.contains(plan) { try suppress(plan: plan, of: account, db, now) }
        return after
    }

    /// Suppresses the open rows of a plan, which are still acknowledged. Includes tombstones, because a server
    /// asked about the remaining plans does not send them again.
    ///
    /// - Parameter plan: The plan; `nil` for every plan.
    private func suppress(plan: String?, of account: DID, _ db: Session, _ now: Timestamp) throws {
        var total = 0
        try db.run(
            "DELETE FROM plan_snapshots WHERE account = ? AND plan_id = coalesce(?, plan_id)",
            [db.key(account), plan.map { db.lookup($0, as: "plan") }]
        )
        let streams: [(id: Int64, poll: PollName?)] = try db.all(
            "SELECT id, poll FROM streams WHERE account = ?",
            [db.key(account)]
        ) { (try $0["id"], PollName(try $0["poll"] as String)) }
        for (id, poll) in streams where poll.map(starredPolls.contains) ?? false {
            let found = try db.openRows(of: id, plan: plan)
            let rows = try db.changed(
                """
                UPDATE notification_outbox SET state = 'suppressed', finished_at = ?
                WHERE +state IN ('pending', 'evicted') AND id IN (SELECT value FROM json_each(?))
                """,
                [now.milliseconds, jsonArray(found)]
            )
            try db.add(rows, as: \.suppressed, to: id)
            total += rows
        }
        record(.suppressed, total)
    }
}

extension Session {
    /// Whether the account's stars are no list of texts.
    fileprivate func areStarsUnreadable(of account: DID) throws -> Bool {
        try decodedStars(storedStars(of: account), of: account) == nil
    }

    /// The starred plans of an account; empty also if they are unreadable.
    func stars(of account: DID) throws -> [String] {
        try decodedStars(storedStars(of: account), of: account) ?? []
    }

    /// The stored form of the account's stars; `nil` for an unknown account.
    private func storedStars(of account: DID) throws -> String? {
        try value("SELECT starredPlanHandleIds FROM settings WHERE accountDid = ?", [key(account)])
    }

    fileprivate func setStars(_ plans: [String], of account: DID) throws {
        let key = key(account)
        try run(
            "UPDATE settings SET starredPlanHandleIds = ? WHERE accountDid = ?",
            [try sealed(try jsonArray(plans), .stars, of: key, row: key), key]
        )
    }

    /// The newest archived stars of an account. Unreadable ones are none.
    fileprivate func archivedStars(of account: DID, limit: Int = .max) throws -> [ArchivedStars] {
        try all(
            """
            SELECT plan_ids, archived_at FROM starred_archive WHERE account = ?
            ORDER BY archived_at DESC, id DESC LIMIT ?
            """,
            [key(account), limit]
        ) { row in
            let archivedAt: Timestamp = try row["archived_at"]
            let place = "\(key(account))/\(archivedAt.milliseconds)"
            let stars = try ifReadable { try opened(row["plan_ids"], .archivedStars, row: place) as String }
            return ArchivedStars(stars: stars.flatMap(decodeStars) ?? [], archivedAt: archivedAt)
        }
    }

    /// The pending and evicted rows of a stream.
    ///
    /// - Parameter plan: Only the rows of this plan; `nil` for all. An encrypted plan is found by opening each row, which
    ///   happens only when a star is removed. A row that does not open is of no plan.
    fileprivate func openRows(of stream: Int64, plan: String?) throws -> [Int64] {
        let rows: [(id: Int64, plan: String?)] = try all(
            """
            SELECT id, jwt_id, plan_id FROM notification_outbox
            WHERE state IN ('pending', 'evicted') AND stream_id = ? AND \(Schema.isOpen)
            """,
            [stream]
        ) { row in
            guard plan != nil else { return (try row["id"], nil) }
            let place = Self.outboxRow(stream, try row["jwt_id"])
            return (
                try row["id"], try ifReadable { try opened(row["plan_id"], .outboxPlan, row: place) as String }
            )
        }
        return rows.filter { plan == nil || $0.plan == plan }.map(\.id)
    }
}

/// The stored stars; `nil` if they are no list of texts.
func decodeStars(_ json: String) -> [String]? {
    try? JSONDecoder().decode([String].self, from: Data(json.utf8))
}
