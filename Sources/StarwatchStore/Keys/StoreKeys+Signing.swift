package import StarwatchCore

/// The result of adding a signing key.
package enum SigningKeyAddition: Sendable, Hashable {
    /// The key is active. A former one is retiring.
    case added
    /// The key was active already, as after a call whose answer was lost.
    case known
    /// Another key has that name, or had it.
    case kidUsed
    /// The account is not the active identity. Nothing was added.
    case notActive
}

/// The result of revoking a signing key.
package enum SigningKeyEnding: Sendable, Hashable {
    /// The secret is destroyed.
    case revoked
    /// The secret was destroyed earlier.
    case revokedBefore
    /// The key is the active one. Nothing was revoked.
    case active
    /// There is no key of that name.
    case unknown
}

/// The keys that sign tokens. They are stored only in an encrypted database.
extension StoreKeys {
    /// The keys that can sign for an account: the active one, then the retiring ones, newest first. Keys that do not open
    /// are missing.
    ///
    /// - Throws: ``StoreError/sealed(_:)`` if none opens.
    package func signingKeys(of account: DID) async throws(StoreError) -> [SigningKey] {
        try await store.perform { store throws(StoreError) in
            guard store.context.vault.isSealed else { return [] }
            return try store.direct(.read) { db in
                let found = try db.all(
                    """
                    SELECT kid, algorithm, secret, created_at, ends_at FROM signing_keys
                    WHERE account = ? AND can_sign = 1 AND state IN ('active', 'retiring')
                    ORDER BY state = 'active' DESC, created_at DESC, kid
                    """,
                    [db.key(account)]
                ) { row in
                    let kid: String = try row["kid"]
                    return try ifReadable {
                        SigningKey(
                            kid: kid,
                            algorithm: try row["algorithm"],
                            secret: try db.opened(row["secret"], .signingKey, row: kid),
                            createdAt: try row["created_at"],
                            endsAt: try row["ends_at"]
                        )
                    }
                }
                let keys = found.compactMap { $0 }
                guard found.isEmpty || !keys.isEmpty else { throw StoreError.sealed(.damaged) }
                return keys
            }
        }
    }

    /// Makes a key the active one of the active identity. The former keys retire.
    ///
    /// Repeating it with the same key changes nothing but the grace of the former ones.
    package func addSigningKey(
        _ key: SigningKey,
        of account: DID,
        grace: SigningGrace
    ) async throws(StoreError) -> SigningKeyAddition {
        try await store.perform { store throws(StoreError) in
            guard store.context.vault.isSealed else { throw .sealed(.notEncrypted) }
            return try store.write(.edit) { db in
                guard try db.identity.isActive(account) else { return .notActive }
                let owner = db.key(account)
                let known = try db.row("SELECT account, state, secret FROM signing_keys WHERE kid = ?", [key.kid])
                if let known {
                    guard try known["account"] == owner, try known["state"] == SigningKeyState.active,
                        try ifReadable({ try db.opened(known["secret"], .signingKey, row: key.kid) }) == key.secret
                    else { return .kidUsed }
                }
                try db.dataKeys.retireSigningKeys(of: owner, but: key, grace)
                guard known == nil else { return .known }
                try db.run(
                    """
                    INSERT INTO signing_keys (kid, account, algorithm, secret, state, can_sign, created_at)
                    VALUES (?, ?, ?, ?, 'active', 1, ?)
                    """,
                    [
                        key.kid, owner, key.algorithm.rawValue,
                        try db.sealed(key.secret, .signingKey, of: owner, row: key.kid), key.createdAt.milliseconds,
                    ]
                )
                return .added
            }
        }
    }

    /// Destroys the secret of a key at once, also in free pages and in the write-ahead log.
    ///
    /// - Parameter isForced: Whether to revoke the active key too. There is then no key to sign with.
    package func revokeSigningKey(
        _ kid: String,
        isForced: Bool,
        now: Timestamp
    ) async throws(StoreError) -> SigningKeyEnding {
        try await store.perform { store throws(StoreError) in
            let result: SigningKeyEnding = try store.write(.edit) { db in
                let found: SigningKeyState? = try db.value("SELECT state FROM signing_keys WHERE kid = ?", [kid])
                guard let state = found else { return .unknown }
                if state == .revoked { return .revokedBefore }
                if state == .active, !isForced { return .active }
                try db.dataKeys.revokeSigningKeys("kid = ?", [kid], now: now)
                return .revoked
            }
            // Deleted content is overwritten with zeros in the file (`secure_delete`), but stands in the log until this.
            if result == .revoked || result == .revokedBefore { _ = try StoreStatus.emptyLog(of: store) }
            return result
        }
    }

    /// Destroys the secrets of keys whose grace is over.
    ///
    /// - Returns: The number of keys.
    package func endSigningKeys(now: Timestamp) async throws(StoreError) -> Int {
        try await store.perform { store throws(StoreError) in
            let isOver = "state = 'retiring' AND ends_at <= ?"
            let due = try store.direct(.read) { db in
                try db.integer("SELECT count(*) FROM signing_keys WHERE \(isOver)", [now.milliseconds])
            }
            guard due > 0 else { return 0 }
            let count = try store.write(.retention) { db in
                try db.dataKeys.revokeSigningKeys(isOver, [now.milliseconds], now: now)
            }
            _ = try StoreStatus.emptyLog(of: store)
            return count
        }
    }
}

extension DataKeyRows {
    /// The signing keys without their secrets, newest first.
    func signingKeys() throws -> [KeyReport.SigningKey] {
        try db.all(
            """
            SELECT kid, account, algorithm, state, created_at, ends_at FROM signing_keys
            ORDER BY created_at DESC, kid
            """
        ) { row in
            KeyReport.SigningKey(
                kid: try row["kid"],
                account: try ifReadable { try db.account(row["account"]) } ?? Unreadable.account,
                algorithm: try row["algorithm"],
                state: try row["state"],
                createdAt: try row["created_at"],
                endsAt: try row["ends_at"]
            )
        }
    }

    /// Retires the keys of an account except `key`. A grace that ends earlier stays.
    func retireSigningKeys(of owner: String, but key: SigningKey, _ grace: SigningGrace) throws {
        let end = (key.createdAt + grace.duration).milliseconds
        if !grace.canSign {
            try db.run(
                """
                UPDATE signing_keys SET can_sign = 0, ends_at = CASE WHEN ends_at > ?1 THEN ?1 ELSE ends_at END
                WHERE account = ?2 AND state = 'retiring'
                """,
                [end, owner]
            )
        }
        try db.run(
            """
            UPDATE signing_keys SET state = 'retiring', can_sign = ?, ends_at = ?
            WHERE account = ? AND state = 'active' AND kid <> ?
            """,
            [grace.canSign, end, owner, key.kid]
        )
    }

    /// Destroys the secrets of keys, also in what was handed out of their accounts.
    ///
    /// - Returns: The number of keys.
    @discardableResult
    func revokeSigningKeys(_ condition: String, _ arguments: SQLArguments, now: Timestamp) throws -> Int {
        let keys: [(kid: String, account: String)] = try db.all(
            "SELECT kid, account FROM signing_keys WHERE \(condition)",
            arguments
        ) { (try $0["kid"], try $0["account"]) }
        let values = Self.revokedValues(now: now)
        let set = values.map { "\($0.column) = ?" }.joined(separator: ", ")
        try db.run("UPDATE signing_keys SET \(set) WHERE \(condition)", SQLArguments(values.map(\.value)) + arguments)
        for (account, keys) in Dictionary(grouping: keys, by: \.account) {
            try db.moves.revoke(Set(keys.map(\.kid)), of: account, now: now)
        }
        return keys.count
    }

    /// Values of a key when it is revoked.
    static func revokedValues(now: Timestamp) -> [(column: String, value: SQLValue)] {
        [
            ("state", .text(SigningKeyState.revoked.rawValue)), ("secret", .null), ("can_sign", .integer(0)),
            ("ends_at", .integer(now.milliseconds)),
        ]
    }
}
