package import StarwatchCore

package struct JournalEntry: Sendable, Hashable {
    package let at: Timestamp
    package let kind: JournalKind
    /// The actor: `socket:anna`, `port:token`, `signal`. Never an account of the server.
    package let actor: String
    /// The word of the verb: `outbox.discard`.
    package var verb: String?
    /// The object, without personal data: `ids=12,13`.
    package var target: String?
    /// `ok`, the kind of the error, or the cause of a run's end.
    package let result: String
    /// The names of changed settings, or a sentence.
    package var detail: String?

    package init(
        at: Timestamp,
        _ kind: JournalKind,
        by actor: String,
        verb: String? = nil,
        target: String? = nil,
        result: String,
        detail: String? = nil
    ) {
        (self.at, self.kind, self.actor, self.result) = (at, kind, actor, result)
        (self.verb, self.target, self.detail) = (verb, target, detail)
    }
}

/// The journal: what operators did, reloads, and ends of runs. It is kept for 90 days, up to ``kept`` entries.
package struct StoreJournal: Sendable {
    let store: Store

    /// The maximum number of entries.
    static let kept = 10_000

    /// Appends entries in one transaction, and drops the oldest ones beyond ``kept``.
    package func append(_ entries: [JournalEntry]) async throws(StoreError) {
        guard !entries.isEmpty else { return }
        try await store.write(.log) { db in
            for entry in entries { try Self.append(entry, in: db) }
        }
    }

    /// Appends the end of a run, unless the journal has the end of a run with the same start, which is the target.
    ///
    /// - Returns: Whether it is new.
    package func append(endOfRun entry: JournalEntry) async throws(StoreError) -> Bool {
        try await store.write(.log) { db in
            let known: Int? = try db.value(
                "SELECT 1 FROM journal WHERE kind = ? AND target = ?",
                [JournalKind.runEnd.rawValue, entry.target]
            )
            if known == nil { try Self.append(entry, in: db) }
            return known == nil
        }
    }

    /// The newest entries with their positions, in the order in which they were made.
    ///
    /// - Parameter since: Only entries since this time; `nil` for all.
    package func list(since: Timestamp?, limit: Int) async throws(StoreError) -> [(id: Int64, entry: JournalEntry)] {
        try await store.direct(.read) { db in try Self.list(in: db, since: since, limit: limit) }
    }

    private static func append(_ entry: JournalEntry, in db: Session) throws {
        try db.run(
            """
            INSERT INTO journal (created_at, kind, actor, verb, target, result, detail)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                entry.at.milliseconds, entry.kind.rawValue, entry.actor, entry.verb, entry.target, entry.result,
                entry.detail,
            ]
        )
        try db.run("DELETE FROM journal WHERE id <= (SELECT id FROM journal ORDER BY id DESC LIMIT 1 OFFSET \(kept))")
    }

    static func list(in db: Session, since: Timestamp?, limit: Int) throws -> [(id: Int64, entry: JournalEntry)] {
        try db.all(
            """
            SELECT id, created_at, kind, actor, verb, target, result, detail FROM journal
            WHERE created_at >= ? ORDER BY id DESC LIMIT ?
            """,
            [since?.milliseconds ?? Int64.min, limit]
        ) { row in
            let id: Int64 = try row["id"]
            let entry = JournalEntry(
                at: try row["created_at"],
                try row["kind"],
                by: try row["actor"],
                verb: try row["verb"],
                target: try row["target"],
                result: try row["result"],
                detail: try row["detail"]
            )
            return (id, entry)
        }.reversed()
    }
}
