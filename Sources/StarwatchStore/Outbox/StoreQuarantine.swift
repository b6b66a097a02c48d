import FoundationEssentials
package import StarwatchCore

/// An item of the server that was rejected alone.
package struct QuarantinedItem: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    /// The item's identifier; `nil` if it has no valid one.
    package let jwtID: JWTID?
    package let violation: ContractViolation
    /// The faults of the item, with paths of the page that had it last. At most ``RefusedItem/listedIssues``.
    package let issues: [ValidationIssue]
    /// The number of the page in its cycle, from 1, as for the next two.
    package let page: Int
    package let runID: String
    /// The number of times that the server sent it.
    package let times: Int
    package let createdAt: Timestamp
    package let seenAt: Timestamp
}

/// The items that were rejected alone.
package struct StoreQuarantine: Sendable {
    let store: Store

    /// The quarantined items that nobody discarded, the newest first. `nil` does not restrict.
    ///
    /// - Parameter before: Only items with smaller ids.
    package func list(
        of account: DID? = nil,
        poll: PollName? = nil,
        before: Int64? = nil,
        limit: Int = 100
    ) async throws(StoreError) -> [QuarantinedItem] {
        try await store.direct(.read) { db in
            try db.all(
                """
                SELECT q.id, s.account, s.server, s.poll, q.jwt_id, q.kind, q.issues, q.page, q.run_id, q.times,
                    q.created_at, q.seen_at
                FROM quarantine q JOIN streams s ON s.id = q.stream_id
                WHERE q.discarded_at IS NULL AND q.id < ?1 AND (?2 IS NULL OR s.poll = ?2)
                    AND (?4 IS NULL OR s.account = ?4)
                ORDER BY q.id DESC LIMIT ?3
                """,
                [before ?? .max, poll?.rawValue, limit, account.map(db.key)]
            ) { row in try ifReadable { try QuarantinedItem(row, db) } }
            .compactMap(\.self)
        }
    }

    /// The quarantined items with an identifier, by stream.
    package func items(of change: JWTID) async throws(StoreError) -> [StreamKey: Int64] {
        try await store.direct(.read) { db in
            let found: [(StreamKey, Int64)?] = try db.all(
                """
                SELECT max(q.id) AS id, s.account, s.server, s.poll FROM quarantine q JOIN streams s ON s.id = q.stream_id
                WHERE q.jwt_id = ? GROUP BY q.stream_id
                """,
                [change.rawValue]
            ) { row in try ifReadable { (try db.streams.stream(row), try row["id"]) } }
            return Dictionary(uniqueKeysWithValues: found.compactMap(\.self))
        }
    }

    /// Hides quarantined items. One stays hidden as long as the server sends it with the same faults.
    ///
    /// - Parameters:
    ///   - ids: The items; `nil` for all.
    ///   - poll: Restricts to the items of one poll.
    /// - Returns: The number of items.
    package func discard(
        _ ids: [Int64]?,
        poll: PollName?,
        of account: DID? = nil,
        now: Timestamp
    ) async throws(StoreError) -> Int {
        try await store.write(.edit) { db in
            try db.changed(
                """
                UPDATE quarantine SET discarded_at = ?1 WHERE discarded_at IS NULL
                    AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2)))
                    AND (?3 IS NULL OR stream_id IN (SELECT id FROM streams WHERE poll = ?3))
                    AND (?4 IS NULL OR stream_id IN (SELECT id FROM streams WHERE account = ?4))
                """,
                [now.milliseconds, ids.map(jsonArray), poll?.rawValue, account.map(db.key)]
            )
        }
    }
}

extension OutboxRows {
    /// The largest number of items of a stream. A server that sends nothing valid would fill the disk.
    private static let quarantineLimit = 1000

    /// Records the rejected items of a page, and forgets those that the server has repaired.
    ///
    /// - Returns: The items that were not known.
    func quarantine(_ page: PageCommit, of stream: Int64) throws -> [RefusedItem] {
        try release(page.changes, of: stream)
        var new: [RefusedItem] = []
        for item in page.refused.suffix(Self.quarantineLimit) {
            let issues = item.issues.map { ["path": $0.path, "problem": $0.problem.rawValue] }
            let times = try db.integer(
                """
                INSERT INTO quarantine
                    (stream_id, fingerprint, jwt_id, kind, issues, page, run_id, created_at, seen_at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
                ON CONFLICT (stream_id, fingerprint) DO UPDATE SET issues = excluded.issues, page = excluded.page,
                    run_id = excluded.run_id, times = times + 1, seen_at = excluded.seen_at
                RETURNING times
                """,
                [
                    stream, item.fingerprint, item.id?.rawValue, item.violation.rawValue,
                    StableJSON.text(of: issues), page.number, page.runID,
                    page.now.milliseconds,
                ]
            )
            if times == 1 { new.append(item) }
        }
        if !new.isEmpty {
            try db.run(
                """
                DELETE FROM quarantine WHERE stream_id = ?1 AND id <= (SELECT id FROM quarantine
                    WHERE stream_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
                """,
                [stream, Self.quarantineLimit]
            )
        }
        return new
    }

    private func release(_ changes: [FetchedChange], of stream: Int64) throws {
        guard !changes.isEmpty,
            try db.integer("SELECT EXISTS (SELECT 1 FROM quarantine WHERE stream_id = ?)", [stream]) == 1
        else { return }
        for change in changes {
            try db.run("DELETE FROM quarantine WHERE stream_id = ? AND jwt_id = ?", [stream, change.id.rawValue])
        }
    }

    /// The number of quarantined items of active accounts that nobody discarded.
    func quarantinedCount() throws -> Int {
        try db.integer(
            """
            SELECT count(*) FROM quarantine q JOIN streams s ON s.id = q.stream_id
            WHERE q.discarded_at IS NULL AND \(Schema.isActive)
            """
        )
    }
}

extension QuarantinedItem {
    fileprivate init(_ row: SQLRow, _ db: Session) throws {
        let stored: String = try row["issues"]
        let issues = try? JSONDecoder().decode([[String: String]].self, from: Data(stored.utf8))
        guard let issues else { throw StoreError.damaged }
        id = try row["id"]
        stream = try db.streams.stream(row)
        jwtID = try row["jwt_id"]
        violation = try row["kind"]
        self.issues = try issues.map { issue in
            guard let path = issue["path"], let problem = issue["problem"].flatMap(ValidationIssue.Fault.init) else {
                throw StoreError.damaged
            }
            return ValidationIssue(path: path, problem: problem)
        }
        page = try row["page"]
        runID = try row["run_id"]
        times = try row["times"]
        createdAt = try row["created_at"]
        seenAt = try row["seen_at"]
    }
}
