import FoundationEssentials
import GRDB
import StarwatchCore

extension Store {
    /// Keeps what a new row's plan is like now, and with the row what differs from before.
    func noteDetails(of change: Change, _ page: PageCommit, _ stream: Int64, _ db: Database) throws {
        guard let changes = try db.note(page.details[change.id], of: change, page.stream) else { return }
        try db.run(
            "UPDATE notification_outbox SET changed_fields = ? WHERE stream_id = ? AND jwt_id = ?",
            [String(decoding: try JSONEncoder().encode(changes), as: UTF8.self), stream, change.id.rawValue]
        )
    }
}

extension Database {
    /// Makes `details` the plan's snapshot, unless a later change has been seen.
    ///
    /// - Returns: What differs from the snapshot before it; `nil` when there was none, or it is of no earlier claim.
    func note(_ details: PlanDetails?, of change: Change, _ stream: StreamKey) throws -> [String: FieldChange]? {
        guard let details else { return nil }
        let key: StatementArguments = [stream.account.rawValue, stream.server, change.plan]
        let former = try row(
            "SELECT jwt_id, fields FROM plan_snapshots WHERE account = ? AND server = ? AND plan_id = ?",
            key
        )
        // Claims of another kind are of a server that has changed its dialect: nothing to compare.
        let order = try former?.jwtID(0).precedes(change.id)
        if former != nil, order == false { return nil }
        let json = String(decoding: try JSONEncoder().encode(details), as: UTF8.self)
        try run(
            """
            INSERT INTO plan_snapshots (account, server, plan_id, jwt_id, fields) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET jwt_id = excluded.jwt_id, fields = excluded.fields
            """,
            key + [change.id.rawValue, json]
        )
        guard order == true, let text = former?[1] as String? else { return nil }
        guard let before = try? JSONDecoder().decode(PlanDetails.self, from: Data(text.utf8)) else {
            throw Row.damaged
        }
        return details.changes(from: before)
    }
}

extension Row {
    func changedFields(_ index: Int) throws -> [String: FieldChange]? {
        guard let text = self[index] as String? else { return nil }
        guard let fields = try? JSONDecoder().decode([String: FieldChange].self, from: Data(text.utf8)) else {
            throw Self.damaged
        }
        return fields
    }
}
