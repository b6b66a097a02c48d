import FoundationEssentials
package import StarwatchCore

/// A notification in the feed.
package struct FeedRow: Sendable, Hashable {
    /// The sequence number. It rises with every row and is never reused.
    package let sequence: Int64
    /// The exact bytes that sinks received.
    package let payload: [UInt8]
    package let storedAt: Timestamp

    package init(sequence: Int64, payload: [UInt8], storedAt: Timestamp) {
        (self.sequence, self.payload, self.storedAt) = (sequence, payload, storedAt)
    }
}

/// The feed names projects, so it belongs to the active identity: a change of identity empties it.
package struct StoreFeed: Sendable {
    let store: Store

    /// Adds a notification once, however often it is called, and drops the oldest rows beyond `keep`.
    ///
    /// Ignores a notification of a former identity whose delivery ended after the change.
    ///
    /// - Parameter token: The notification's id, `ntf_…`.
    package func append(_ token: String, payload: [UInt8], keep: Int, now: Timestamp) async throws(StoreError) {
        try await store.write(.delivery) { db in
            // ON CONFLICT would consume a sequence number, and a follower would look for a row that never existed.
            try db.run(
                """
                INSERT INTO feed (token, payload, created_at) SELECT ?1, ?2, ?3
                WHERE NOT EXISTS (SELECT 1 FROM feed WHERE token = ?1) AND NOT EXISTS (
                    SELECT 1 FROM notifications n JOIN streams s ON s.id = n.stream_id
                    WHERE n.token = ?1 AND NOT \(Schema.isActive))
                """,
                [token, try db.sealed(payload, .feedPayload, of: nil, row: token), now.milliseconds]
            )
            try Self.trim(db, keep: keep)
        }
    }

    /// Drops the oldest rows beyond `keep`.
    package func trim(keep: Int) async throws(StoreError) {
        try await store.direct(.edit) { db in try Self.trim(db, keep: keep) }
    }

    /// The rows below `before`, the newest first. Rows that do not open are missing.
    package func list(before: Int64?, limit: Int) async throws(StoreError) -> [FeedRow] {
        try await list("id < ? ORDER BY id DESC", before ?? .max, limit)
    }

    /// The rows above `after`, the oldest first. Rows that do not open are missing.
    package func list(after: Int64, limit: Int) async throws(StoreError) -> [FeedRow] {
        try await list("id > ? ORDER BY id", after, limit)
    }

    /// The largest sequence number ever used; 0 if there was none.
    package func latestSequence() async throws(StoreError) -> Int64 {
        try await store.direct(.read) { db in
            try db.value("SELECT seq FROM sqlite_sequence WHERE name = 'feed'") ?? 0
        }
    }

    private func list(_ condition: String, _ id: Int64, _ limit: Int) async throws(StoreError) -> [FeedRow] {
        try await store.direct(.read) { db in
            var found: [FeedRow] = []
            let rows = try db.rows("SELECT id, payload, created_at, token FROM feed WHERE \(condition)", [id])
            while found.count < limit, let row = try rows.next() {
                let payload = try ifReadable {
                    try db.opened(row["payload"] as Data, .feedPayload, row: try row["token"])
                }
                guard let payload else { continue }
                found.append(FeedRow(sequence: try row["id"], payload: payload, storedAt: try row["created_at"]))
            }
            return found
        }
    }

    private static func trim(_ db: Session, keep: Int) throws {
        try db.run("DELETE FROM feed WHERE id NOT IN (SELECT id FROM feed ORDER BY id DESC LIMIT ?)", [keep])
    }
}
