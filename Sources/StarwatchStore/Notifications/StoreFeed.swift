import FoundationEssentials
package import StarwatchCore

/// A notification in the feed.
package struct FeedRow: Sendable, Hashable {
    /// The sequence number. It rises with every row of the account and is never reused.
    package let sequence: Int64
    /// The exact bytes that sinks received.
    package let payload: [UInt8]
    package let storedAt: Timestamp

    package init(sequence: Int64, payload: [UInt8], storedAt: Timestamp) {
        (self.sequence, self.payload, self.storedAt) = (sequence, payload, storedAt)
    }
}

/// The feed of each account. It names projects, so it is emptied when the account is no longer signed in or served.
package struct StoreFeed: Sendable {
    let store: Store

    /// Adds a notification once, however often it is called, and drops the account's oldest rows beyond `keep`.
    ///
    /// Ignores a notification whose delivery ended after the account was signed out or removed.
    ///
    /// - Parameter token: The notification's id, `ntf_…`.
    package func append(
        _ token: String,
        payload: [UInt8],
        of account: DID,
        keep: Int,
        now: Timestamp
    ) async throws(StoreError) {
        try await store.write(.delivery, of: account) { db in
            let key = db.key(account)
            guard try db.identity.isSignedIn(account) || db.accounts.status(of: account) != nil,
                try db.integer("SELECT count(*) FROM feed WHERE token = ?", [token]) == 0
            else { return }
            // Only now: a follower would look for a row that never existed.
            let sequence = try db.inserted(
                """
                INSERT INTO feeds (account, latest) VALUES (?, 1)
                ON CONFLICT (account) DO UPDATE SET latest = feeds.latest + 1 RETURNING latest
                """,
                [key]
            )
            try db.run(
                """
                INSERT INTO feed (id, account, sequence, token, payload, created_at)
                SELECT max(id), ?1, ?2, ?3, ?4, ?5 FROM
                    (SELECT ?2 AS id UNION ALL SELECT seq + 1 FROM sqlite_sequence WHERE name = 'feed')
                """,
                [key, sequence, token, try db.sealed(payload, .feedPayload, of: key, row: token), now.milliseconds]
            )
            try Self.trim(db, key, keep: keep)
        }
    }

    /// Drops the oldest rows of each account beyond `keep`. Each batch is a transaction, so that the others need not wait for all.
    package func trim(keep: Int) async throws(StoreError) {
        let all: [String] = try await store.direct(.read) { db in
            try db.values("SELECT account FROM feed GROUP BY account HAVING count(*) > ?", [keep])
        }
        var rest = all[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Self.batch)
            rest = rest.dropFirst(Self.batch)
            try await store.write(.edit) { db in for key in batch { try Self.trim(db, key, keep: keep) } }
        }
    }

    /// The largest number of accounts whose rows one transaction drops.
    private static let batch = 100

    /// The rows below `before`, the newest first. Rows that do not open are missing.
    package func list(of account: DID, before: Int64?, limit: Int) async throws(StoreError) -> [FeedRow] {
        try await list(account, "sequence < ? ORDER BY sequence DESC", before ?? .max, limit: limit)
    }

    /// The rows above `after`, the oldest first. Rows that do not open are missing.
    package func list(of account: DID, after: Int64, limit: Int) async throws(StoreError) -> [FeedRow] {
        try await list(account, "sequence > ? ORDER BY sequence", after, limit: limit)
    }

    /// The largest sequence number that the account ever used; 0 if there was none.
    package func latestSequence(of account: DID) async throws(StoreError) -> Int64 {
        try await store.direct(.read) { db in
            try db.value("SELECT latest FROM feeds WHERE account = ?", [db.key(account)]) ?? 0
        }
    }

    private func list(
        _ account: DID,
        _ condition: String,
        _ sequence: Int64,
        limit: Int
    ) async throws(StoreError) -> [FeedRow] {
        try await store.direct(.read) { db in
            var found: [FeedRow] = []
            let rows = try db.rows(
                "SELECT sequence, payload, created_at, token FROM feed WHERE account = ? AND \(condition)",
                [db.key(account), sequence]
            )
            while found.count < limit, let row = try rows.next() {
                let payload = try ifReadable {
                    try db.opened(row["payload"] as Data, .feedPayload, row: try row["token"])
                }
                guard let payload else { continue }
                found.append(
                    FeedRow(sequence: try row["sequence"], payload: payload, storedAt: try row["created_at"])
                )
            }
            return found
        }
    }

    private static func trim(_ db: Session, _ key: String, keep: Int) throws {
        try db.run(
            """
            DELETE FROM feed WHERE account = ?1 AND sequence <=
                (SELECT sequence FROM feed WHERE account = ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2)
            """,
            [key, keep]
        )
    }
}

/// The tokens in the addresses of accounts' feeds.
extension StoreFeed {
    /// The token in the address of a served account's feed; `nil` if the account is not served.
    ///
    /// - Parameters:
    ///   - new: The token to store if there is none that opens: ``isToken(_:)``.
    ///   - replaces: Whether to store it in place of the present one.
    package func token(of account: DID, new: String, replaces: Bool) async throws(StoreError) -> String? {
        try await store.write(.edit, of: account, hasLease: false) { db in
            let key = db.key(account)
            guard db.vault.isSealed else { throw StoreError.sealed(.notEncrypted) }
            guard try db.accounts.status(of: account) != nil else { return nil }
            let stored: String? = try db.value("SELECT sealed_token FROM feeds WHERE account = ?", [key])
            if !replaces, let known = try ifReadable({ try db.opened(stored, .feedToken, row: key) }) ?? nil {
                return known
            }
            try db.run(
                """
                INSERT INTO feeds (account, token, sealed_token) VALUES (?, ?, ?)
                ON CONFLICT (account) DO UPDATE SET token = excluded.token, sealed_token = excluded.sealed_token
                """,
                [key, db.vault.lookup(new, as: "feed"), try db.sealed(new, .feedToken, of: key, row: key)]
            )
            return new
        }
    }

    /// The account whose feed has a token in its address, and the token as it is stored; `nil` if no account has.
    package func owner(of token: String) async throws(StoreError) -> (account: DID, token: String)? {
        guard Self.isToken(token) else { return nil }
        return try await store.direct(.read) { db in
            guard db.vault.isSealed else { return nil }
            let row = try db.row(
                "SELECT account, sealed_token FROM feeds WHERE token = ?",
                [db.vault.lookup(token, as: "feed")]
            )
            guard let row else { return nil }
            let key: String = try row["account"]
            return try ifReadable {
                (try db.account(key), try db.opened(row["sealed_token"] as String, .feedToken, row: key))
            }
        }
    }

    /// Whether a text has the form of a token: 128 bits as hexadecimal digits. Others are not looked up, and none comes in by a
    /// move.
    static func isToken(_ text: String?) -> Bool { text?.wholeMatch(of: /[0-9a-f]{32}/) != nil }
}
