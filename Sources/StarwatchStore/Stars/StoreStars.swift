import FoundationEssentials
package import StarwatchCore

/// The starred plans of accounts.
package struct StoreStars: Sendable {
    let store: Store

    /// The starred plans of an account in the order of starring; empty for an unknown account.
    package func list(of account: DID) async throws(StoreError) -> [String] {
        try await store.direct(.read) { db in try db.stars.list(of: account) }
    }

    /// The last seen names of an account's plans, by plan. Plans without a seen name are missing.
    package func planNames(of account: DID, server: String) async throws(StoreError) -> [String: String] {
        try await store.direct(.read) { db in
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

    /// Changes the starred plans. Of duplicates the first one counts.
    ///
    /// - Parameter edit: Returns the plans to star, from the present ones and the newest archived ones, which the archive keeps.
    /// - Returns: The starred plans in the order of starring.
    package func change(
        of account: DID,
        server: String,
        now: Timestamp,
        _ edit: @Sendable (_ stars: [String], _ archived: () throws -> [String]) throws -> [String]
    ) async throws(StoreError) -> [String] {
        try await store.write(.stars, of: account) { db in
            try db.stars.change(account, server: server, now: now) { stars in
                try edit(stars) { try db.stars.archived(of: account, limit: 1).first?.stars ?? [] }
            }
        }
    }

    /// Disables or enables the polls of a kind for an account.
    ///
    /// Disabling suppresses pending rows, which are still acknowledged.
    ///
    /// - Returns: The starred plans, which stay.
    package func setOptedOut(
        _ isOptedOut: Bool,
        from kind: PollKind = .starredProjects,
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await store.write(.stars, of: account) { db in
            try db.identity.ensureSettings(account, server: server, now: now)
            try db.run(
                """
                UPDATE settings SET updated_at = ?1, notificationPreferences = json_set(
                    json_remove(
                        CASE WHEN json_type(notificationPreferences) = 'object' THEN notificationPreferences ELSE '{}' END,
                        ?4
                    ), ?5, json(?2)) WHERE accountDid = ?3
                """,
                [
                    now.milliseconds, isOptedOut ? "false" : "true", db.key(account), "$.\(kind.rawValue)",
                    "$.\(kind.preference)",
                ]
            )
            if isOptedOut { try db.stars.suppress(plan: nil, of: account, kind: kind, now) }
            return try db.stars.list(of: account)
        }
    }

    /// Stores the configured plans if the account's stars were never written. Later the database decides.
    ///
    /// - Returns: The starred plans.
    package func seedIfEmpty(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await store.write(.stars, of: account) { db in
            try db.identity.ensureSettings(account, server: server, now: now)
            let seeded = try db.integer("SELECT starsSeeded FROM settings WHERE accountDid = ?", [db.key(account)])
            // Unreadable ones are not overwritten.
            guard try db.stars.readable(of: account) != nil, seeded != 1 else { return try db.stars.list(of: account) }
            return try db.stars.change(account, server: server, now: now) { _ in plans }
        }
    }

    /// The archived stars of an account, the newest first; kept for 30 days.
    package func archived(
        of account: DID
    ) async throws(StoreError) -> [(stars: [String], archivedAt: Timestamp)] {
        try await store.direct(.read) { db in try db.stars.archived(of: account) }
    }
}

/// The stars of accounts, in one access.
struct StarRows {
    let db: Session

    /// Moves an account's stars into the archive if it has any.
    func archive(of account: DID, now: Timestamp) throws {
        let stars = try list(of: account)
        guard !stars.isEmpty else { return }
        let key = db.key(account)
        try db.run(
            "INSERT INTO starred_archive (account, plan_ids, archived_at) VALUES (?, ?, ?)",
            [
                key, try db.sealed(jsonArray(stars), .archivedStars, of: key, row: "\(key)/\(now.milliseconds)"),
                now.milliseconds,
            ]
        )
        try set([], of: account)
    }

    func change(
        _ account: DID,
        server: String,
        now: Timestamp,
        _ edit: ([String]) throws -> [String]
    ) throws -> [String] {
        try db.identity.ensureSettings(account, server: server, now: now)
        let before = try list(of: account)
        var seen = Set<String>()
        let after = try edit(before).filter { seen.insert($0).inserted }
        try set(after, of: account)
        try db.run(
            "UPDATE settings SET starsSeeded = 1, updated_at = ? WHERE accountDid = ?",
            [now.milliseconds, db.key(account)]
        )
        for plan in before where !seen.contains(plan) { try suppress(plan: plan, of: account, now) }
        return after
    }

    /// Suppresses the open rows of a plan, which are still acknowledged. Includes tombstones, because a server
    /// asked about the remaining plans does not send them again.
    ///
    /// - Parameters:
    ///   - plan: The plan; `nil` for every plan.
    ///   - kind: The kind of the polls whose rows these are.
    func suppress(plan: String?, of account: DID, kind: PollKind = .starredProjects, _ now: Timestamp) throws {
        if kind.isOfPlans {
            try db.run(
                "DELETE FROM plan_snapshots WHERE account = ? AND plan_id = coalesce(?, plan_id)",
                [db.key(account), plan.map { db.vault.lookup($0, as: "plan") }]
            )
        }
        // Gifts and offers to a plan that is no longer starred are no news either. An offer can lack its plan, and stays.
        let kinds = plan == nil ? [kind] : PollKind.allCases.filter(\.needsStars)
        let polls = kinds.reduce(into: Set<PollName>()) { $0.formUnion(db.context.options.pollsOfKind[$1] ?? []) }
        try suppress(plan: plan, of: account, now) { $0.map(polls.contains) ?? false }
    }

    /// Suppresses what waits of polls that an account does not want any more.
    func suppress(pollsExcept wanted: [PollName], of account: DID, _ now: Timestamp) throws {
        try suppress(plan: nil, of: account, now) { $0.map { !wanted.contains($0) } ?? false }
    }

    private func suppress(plan: String?, of account: DID, _ now: Timestamp, _ isOff: (PollName?) -> Bool) throws {
        var (total, ended): (Int, [Int64]) = (0, [])
        let streams: [(id: Int64, poll: PollName?)] = try db.all(
            "SELECT id, poll FROM streams WHERE account = ?",
            [db.key(account)]
        ) { (try $0["id"], PollName(try $0["poll"] as String)) }
        for (id, poll) in streams where isOff(poll) {
            let found = try openRows(of: id, plan: plan)
            try db.formerStates.keep(
                rows: "+state = 'evicted' AND id IN (SELECT value FROM json_each(?3))",
                [jsonArray(found)],
                as: .suppressed,
                now
            )
            let rows = try db.changed(
                """
                UPDATE notification_outbox SET state = 'suppressed', finished_at = ?, reason = ?
                WHERE +state IN ('pending', 'evicted') AND id IN (SELECT value FROM json_each(?))
                """,
                [now.milliseconds, (plan == nil ? RowReason.optedOut : RowReason.unstarred).rawValue, jsonArray(found)]
            )
            try db.ledger.add(rows, as: \.suppressed, to: id)
            total += rows
            ended += found
        }
        db.context.record(.suppressed, total)
        try db.outbox.passOn(ended, now)
    }

    /// The starred plans of an account; empty also if they are unreadable.
    func list(of account: DID) throws -> [String] { try readable(of: account) ?? [] }

    /// The starred plans of an account; `nil` if they are unreadable.
    func readable(of account: DID) throws -> [String]? { try decoded(interests(of: account)?.stars, of: account) }

    func set(_ plans: [String], of account: DID) throws {
        let key = db.key(account)
        try db.run(
            "UPDATE settings SET starredPlanHandleIds = ? WHERE accountDid = ?",
            [try db.sealed(jsonArray(plans), .stars, of: key, row: key), key]
        )
    }

    /// The newest archived stars of an account. Unreadable ones are none.
    func archived(of account: DID, limit: Int = .max) throws -> [(stars: [String], archivedAt: Timestamp)] {
        try db.all(
            """
            SELECT plan_ids, archived_at FROM starred_archive WHERE account = ?
            ORDER BY archived_at DESC, id DESC LIMIT ?
            """,
            [db.key(account), limit]
        ) { row in
            let archivedAt: Timestamp = try row["archived_at"]
            let place = "\(db.key(account))/\(archivedAt.milliseconds)"
            let stars = try ifReadable { try db.opened(row["plan_ids"], .archivedStars, row: place) as String }
            return (stars.flatMap(decodeStars) ?? [], archivedAt)
        }
    }

    /// The pending and evicted rows of a stream.
    ///
    /// - Parameter plan: Only the rows of this plan; `nil` for all. An encrypted plan is found by opening each row, which
    ///   happens only when a star is removed. A row that does not open is of no plan.
    func openRows(of stream: Int64, plan: String?) throws -> [Int64] {
        let rows: [(id: Int64, plan: String?)] = try db.all(
            """
            SELECT id, jwt_id, plan_id FROM notification_outbox
            WHERE state IN ('pending', 'evicted') AND stream_id = ? AND \(Schema.isOpen)
            """,
            [stream]
        ) { row in
            guard plan != nil else { return (try row["id"], nil) }
            let place = db.outbox.place(stream, try row["jwt_id"])
            return (try row["id"], try ifReadable { try db.opened(row["plan_id"], .outboxPlan, row: place) as String })
        }
        return rows.filter { plan == nil || $0.plan == plan }.map(\.id)
    }
}

/// The stored stars; `nil` if they are no list of texts.
func decodeStars(_ json: String) -> [String]? {
    // A tenth of the decoder's instructions.
    if let plain = StableJSON.plainTexts(in: json) { return plain }
    return try? JSONDecoder().decode([String].self, from: Data(json.utf8))
}
