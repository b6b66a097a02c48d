import StarwatchCore

/// The last seen details of the plans of one page. Each plan is read and written once per page.
struct PlanSnapshots {
    private struct Snapshot {
        enum Content {
            case stored(json: String)
            case new(PlanDetails)
        }

        let jwt: JWTID
        let content: Content
    }

    private let stream: StreamKey
    /// The snapshots by plan. A plan without a snapshot has an entry too.
    private var seen: [String: Snapshot?] = [:]

    init(_ stream: StreamKey) { self.stream = stream }

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
        let before: PlanDetails
        switch former.content {
        case .new(let details): before = details
        case .stored(let json):
            guard let details = PlanDetails(stored: json) else { return nil }
            before = details
        }
        return details.changes(from: before)
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
        seen[change.plan] = Snapshot(jwt: change.id, content: .new(details))
    }

    /// Writes the changed snapshots.
    func store(_ db: Session) throws {
        let account = db.key(stream.account)
        for (plan, snapshot) in seen.sorted(by: { $0.key < $1.key }) {
            guard let snapshot, case .new(let details) = snapshot.content else { continue }
            let id = db.lookup(plan, as: "plan")
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

    private mutating func snapshot(of plan: String, _ db: Session) throws -> Snapshot? {
        if let known = seen[plan] { return known }
        let id = db.lookup(plan, as: "plan")
        let row = try db.row(
            "SELECT jwt_id, fields FROM plan_snapshots WHERE account = ? AND server = ? AND plan_id = ?",
            [db.key(stream.account), stream.server, id]
        )
        // One that does not open is unknown, and is overwritten.
        let snapshot = try row.flatMap { row in
            try ifReadable {
                let json: String = try db.opened(row["fields"], .snapshotFields, row: Self.row(stream.server, id))
                return Snapshot(jwt: try row["jwt_id"], content: .stored(json: json))
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
