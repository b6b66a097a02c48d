import StarwatchCore

/// The last seen details of plans. Each plan is read and written once per page.
struct PlanSnapshots {
    /// The largest number of plans that the next page need not read again.
    private static let largestRest = 1000

    private let stream: StreamKey
    /// The snapshots by plan. A plan without a snapshot has an entry too.
    private var seen: [String: PlanSnapshot?] = [:]

    /// The snapshots for a page of a stream: those of the page before, if nothing else has changed a row since then.
    init(_ stream: StreamKey, _ db: Session) {
        self.stream = stream
        if let former = db.context.snapshots, former.stream == stream, former.plans.count <= Self.largestRest {
            seen = former.plans
        }
    }

    /// The difference between a plan's snapshot and `details`; `nil` if there is no snapshot of an earlier
    /// change.
    mutating func difference(
        _ details: PlanDetails,
        of change: Change,
        _ db: Session
    ) throws -> [String: FieldChange]? {
        guard let former = try snapshot(of: change.plan, db), former.jwt.precedes(change.id) == true else {
            return nil
        }
        return former.details.map { details.changes(from: $0) }
    }

    /// The name of a change: for an offer or a gift to a plan that the server does not name, the plan's last seen one.
    mutating func name(for fetched: FetchedChange, _ db: Session) throws -> String? {
        let change = fetched.change
        guard change.name == nil, !change.isOffer, fetched.details == nil else { return change.name }
        return try snapshot(of: change.plan, db)?.details?[.name]
    }

    /// The change with the plan of its offer: that of the starred plans of which the account has seen the claim that the offer
    /// names. Without one, the offer stays without a plan.
    func resolved(_ fetched: FetchedChange, _ db: Session) throws -> FetchedChange {
        guard let claim = fetched.planClaim, let plan = try plan(of: claim, db) else { return fetched }
        // The server sends no offer to another plan.
        return try db.stars.list(of: stream.account).contains(plan) ? fetched.offered(to: plan) : fetched
    }

    /// The plan of a claim that the account has seen; `nil` if it is not known.
    private func plan(of claim: JWTID, _ db: Session) throws -> String? {
        let key = [db.key(stream.account), stream.server, claim.rawValue]
        let snapshot = try db.row(
            """
            SELECT plan_id, coalesce(sealed_plan_id, plan_id) AS plan FROM plan_snapshots
            WHERE account = ? AND server = ? AND jwt_id = ?
            """,
            [key[0], key[1], key[2]]
        )
        if let snapshot {
            let place = Self.row(stream.server, try snapshot["plan_id"])
            return try ifReadable { try db.opened(snapshot["plan"], .snapshotPlan, row: place) as String }
        }
        // An earlier edition has no snapshot any more.
        let row = try db.row(
            """
            SELECT o.stream_id, o.plan_id FROM streams s JOIN notification_outbox o ON o.stream_id = s.id AND o.jwt_id = ?3
            WHERE s.account = ?1 AND s.server = ?2 AND s.poll IN (SELECT value FROM json_each(?4)) LIMIT 1
            """,
            [key[0], key[1], key[2], jsonArray(db.context.options.starredPolls.map(\.rawValue).sorted())]
        )
        return try row.flatMap { row in
            let place = db.outbox.place(try row["stream_id"], claim)
            return try ifReadable { try db.opened(row["plan_id"], .outboxPlan, row: place) as String }
        }
    }

    /// Whether the poll never saw the claim that a change replaced: a later one than the last known of the plan, without
    /// a row of its own. A plan without a snapshot does not tell.
    mutating func lacks(_ previous: JWTID, before change: Change, of stream: Int64, _ db: Session) throws -> Bool {
        guard previous.precedes(change.id) == true,
            let former = try snapshot(of: change.plan, db), former.jwt.precedes(previous) == true
        else { return false }
        return try db.integer(
            "SELECT count(*) FROM notification_outbox WHERE stream_id = ? AND jwt_id = ?",
            [stream, previous.rawValue]
        ) == 0
    }

    /// Makes the change's details the plan's snapshot, unless it comes from a later change.
    mutating func keep(_ fetched: FetchedChange, _ db: Session) throws {
        guard let details = fetched.details else { return }
        let change = fetched.change
        // Identifiers of another kind come from a former dialect, so neither change is the later one.
        if let former = try snapshot(of: change.plan, db), former.jwt.precedes(change.id) == false { return }
        seen[change.plan] = PlanSnapshot(jwt: change.id, details: details, isNew: true)
    }

    /// Keeps the snapshots for the next page, until a statement changes a row. Call it when the page is stored.
    func keepForNextPage(_ db: Session) { db.context.keep(seen, of: stream, at: db.changes) }

    /// Writes the changed snapshots.
    mutating func store(_ db: Session) throws {
        let account = db.key(stream.account)
        let new = seen.compactMap { plan, snapshot in snapshot.flatMap { $0.isNew ? (plan, $0) : nil } }
        for (plan, snapshot) in new.sorted(by: { $0.0 < $1.0 }) {
            guard let details = snapshot.details else { continue }
            seen[plan] = PlanSnapshot(jwt: snapshot.jwt, details: details)
            let id = db.vault.lookup(plan, as: "plan")
            try db.run(
                """
                INSERT INTO plan_snapshots (account, server, plan_id, jwt_id, fields, sealed_plan_id)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (account, server, plan_id) DO UPDATE SET jwt_id = excluded.jwt_id, fields = excluded.fields,
                    sealed_plan_id = excluded.sealed_plan_id
                """,
                [
                    account, stream.server, id, snapshot.jwt.rawValue,
                    try db.sealed(details.stored, .snapshotFields, of: account, row: Self.row(stream.server, id)),
                    db.vault.isSealed
                        ? try db.sealed(plan, .snapshotPlan, of: account, row: Self.row(stream.server, id)) : nil,
                ]
            )
        }
    }

    private mutating func snapshot(of plan: String, _ db: Session) throws -> PlanSnapshot? {
        if let known = seen[plan] { return known }
        let id = db.vault.lookup(plan, as: "plan")
        let row = try db.row(
            "SELECT jwt_id, fields FROM plan_snapshots WHERE account = ? AND server = ? AND plan_id = ?",
            [db.key(stream.account), stream.server, id]
        )
        // One that does not open is unknown, and is overwritten.
        let snapshot = try row.flatMap { row in
            try ifReadable {
                let json: String = try db.opened(row["fields"], .snapshotFields, row: Self.row(stream.server, id))
                return PlanSnapshot(jwt: try row["jwt_id"], details: PlanDetails(stored: json))
            }
        }
        seen[plan] = .some(snapshot)
        return snapshot
    }

    /// The text that binds the values of a snapshot to its row.
    ///
    /// - Parameter plan: The plan as it is stored.
    static func row(_ server: String, _ plan: String) -> String { "\(server)/\(plan)" }
}
