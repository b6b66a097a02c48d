import GRDB
package import StarwatchCore

/// The feed names projects, so it is the active identity's alone: a change of identity empties it.
extension Store {
    /// Adds a notification, once however often it is given, and drops the oldest beyond `keep`.
    ///
    /// A notification of a former identity, whose delivery the change overtook, is passed over.
    ///
    /// - Parameter token: The notification's id, `ntf_…`.
    package func appendFeed(
        _ token: String,
        payload: [UInt8],
        keep: Int,
        now: Timestamp
    ) throws(StoreError) {
        try write(.delivery) { db in
            // Not by ON CONFLICT, which uses a sequence up: who follows would look for what was never there.
            try db.run(
                """
                INSERT INTO feed (token, payload, created_at) SELECT ?1, ?2, ?3
                WHERE NOT EXISTS (SELECT 1 FROM feed WHERE token = ?1) AND NOT EXISTS (
                    SELECT 1 FROM notifications n JOIN streams s ON s.id = n.stream_id
                    WHERE n.token = ?1 AND s.account IS NOT (SELECT activeDid FROM active_identity))
                """,
                [token, payload.blob, now.milliseconds]
            )
            try db.trimFeed(keep: keep)
        }
    }

    /// Drops the oldest rows beyond `keep`.
    package func trimFeed(keep: Int) throws(StoreError) {
        try direct(.edit) { db in try db.trimFeed(keep: keep) }
    }

    /// The newest first, from below `before` on.
    package func feed(before: Int64?, limit: Int) throws(StoreError) -> [FeedRow] {
        try feed("id < ? ORDER BY id DESC", before ?? .max, limit)
    }

    /// The oldest first, from above `after` on.
    package func feed(after: Int64, limit: Int) throws(StoreError) -> [FeedRow] {
        try feed("id > ? ORDER BY id", after, limit)
    }

    /// The greatest sequence that was ever given; 0 when none was.
    package func latestFeedSequence() throws(StoreError) -> Int64 {
        try direct(.read) { db in
            try db.row("SELECT seq FROM sqlite_sequence WHERE name = 'feed'")?[0] ?? 0
        }
    }

    private func feed(_ condition: String, _ id: Int64, _ limit: Int) throws(StoreError) -> [FeedRow] {
        try direct(.read) { db in
            var found: [FeedRow] = []
            let rows = try db.rows("SELECT id, payload, created_at FROM feed WHERE \(condition) LIMIT ?", [id, limit])
            while let row = try rows.next() {
                found.append(FeedRow(sequence: row[0], payload: row.bytes(1), storedAt: row.time(2)))
            }
            return found
        }
    }
}

extension Database {
    func clearFeed() throws { try run("DELETE FROM feed", []) }

    fileprivate func trimFeed(keep: Int) throws {
        try run("DELETE FROM feed WHERE id NOT IN (SELECT id FROM feed ORDER BY id DESC LIMIT ?)", [keep])
    }
}
