import StarwatchCore

/// The accounts that are served, in one access.
struct AccountRows {
    let db: Session

    // MARK: - Reading

    /// The status of an account; `nil` if it is not served.
    func status(of account: DID) throws -> AccountStatus? {
        try db.value("SELECT status FROM accounts WHERE account = ?", [db.key(account)])
    }

    func account(_ did: DID) throws -> StoredAccount? {
        try db.row("\(Self.all) WHERE a.account = ?", [db.key(did)]).map { try stored($0, did) }
    }

    func list(after last: DID?, limit: Int) throws -> [StoredAccount] {
        var found: [StoredAccount] = []
        var key = last.map(db.key) ?? ""
        while found.count < limit {
            let missing = limit - found.count
            let page: [(key: String, account: StoredAccount?)] = try db.all(
                "\(Self.all) WHERE a.account > ? ORDER BY a.account LIMIT ?",
                [key, missing]
            ) { row in
                let key: String = try row["account"]
                return (key, try ifReadable { try db.account(key) }.map { try stored(row, $0) })
            }
            found += page.compactMap(\.account)
            guard page.count == missing, let last = page.last else { break }
            key = last.key
        }
        return found
    }

    private static let all = """
        SELECT a.account, a.status, a.generation, a.added_at, s.starredPlanHandleIds, s.notificationPreferences, l.due_at, l.last_attempt,
            l.last_success, l.owner
        FROM accounts a JOIN leases l ON l.account = a.account JOIN settings s ON s.accountDid = a.account
        """

    private func stored(_ row: SQLRow, _ did: DID) throws -> StoredAccount {
        let sinks = try sinkStates(of: row["account"])
        return StoredAccount(
            did: did,
            status: try row["status"],
            generation: try row["generation"],
            addedAt: try row["added_at"],
            stars: try db.stars.decoded(row["starredPlanHandleIds"], of: did)?.count ?? 0,
            polls: WantedPolls.read(try row["notificationPreferences"]),
            dueAt: try row["due_at"],
            lastAttempt: try row["last_attempt"],
            lastSuccess: try row["last_success"],
            isLeased: try row["owner"] as String? != nil,
            sinks: sinks.mapValues(\.state),
            rejections: sinks.compactMapValues(\.reason)
        )
    }

    // MARK: - Changes

    func add(
        _ draft: AccountDraft,
        server: String,
        now: Timestamp,
        dueAt: Timestamp
    ) throws -> AccountAddition {
        if let since = try db.moves.goneSince(draft.did) { return .hasMoved(since: since) }
        // Stores the DID again if the stored one does not open.
        try db.dataKeys.enrol(draft.did)
        let known = try db.row(
            """
            SELECT a.generation FROM settings s LEFT JOIN accounts a ON a.account = s.accountDid
            WHERE s.accountDid = ?
            """,
            [db.key(draft.did)]
        )
        if try known?["generation"] as Int? != nil {
            let hasMoved = try db.identity.move(draft.did, to: server, now: now)
            let hasStars = try setStars(of: draft, server: server, now: now)
            let hasPolls = try setPolls(of: draft, now: now)
            guard try setSinks(of: draft) || hasStars || hasPolls || hasMoved else { return .unchanged }
            try changed(draft.did, dueAt: dueAt, now: now)
            return .changed
        }
        var hasReturned = false
        if known == nil {
            try db.identity.ensureSettings(draft.did, server: server, stars: draft.stars?.firstOfEach, now: now)
        } else {
            if try db.identity.isSignedIn(draft.did) {
                try db.identity.handOver(now: now)
                _ = try db.identity.move(draft.did, to: server, now: now)
            } else {
                try db.identity.restart(draft.did, server: server, now: now)
                hasReturned = true
            }
            try db.run("DELETE FROM removed_accounts WHERE account = ?", [db.key(draft.did)])
            _ = try setStars(of: draft, server: server, now: now)
        }
        _ = try setSinks(of: draft)
        _ = try setPolls(of: draft, now: now)
        try enter(draft.did, now: now, dueAt: dueAt)
        return hasReturned ? .returned : .added
    }

    /// Begins the service of a stored account.
    func enter(_ account: DID, as status: AccountStatus = .active, now: Timestamp, dueAt: Timestamp) throws {
        // Above every former one, so that work and leases from before the account left are not taken for later ones.
        let number = try db.identity.lastGeneration() + 1
        try db.run(
            "INSERT INTO accounts (account, status, generation, added_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)",
            [db.key(account), status.rawValue, number, now.milliseconds]
        )
        try db.run(
            "INSERT INTO leases (account, due_at, epoch) VALUES (?, ?, ?)",
            [db.key(account), dueAt.milliseconds, number]
        )
    }

    /// - Returns: Whether the draft has stars, and they differ from the stored ones.
    private func setStars(of draft: AccountDraft, server: String, now: Timestamp) throws -> Bool {
        guard let stars = draft.stars else { return false }
        let after = stars.firstOfEach
        guard try db.stars.readable(of: draft.did) != after else { return false }
        _ = try db.stars.change(draft.did, server: server, now: now) { _ in after }
        return true
    }

    /// - Returns: Whether the draft names polls, and they differ from the stored ones.
    private func setPolls(of draft: AccountDraft, now: Timestamp) throws -> Bool {
        guard let names = draft.polls else { return false }
        let wanted = names.isEmpty ? nil : names
        let former = WantedPolls.read(try db.stars.interests(of: draft.did)?.preferences ?? "{}")
        guard former.map(Set.init) != wanted.map(Set.init) else { return false }
        try db.run(
            """
            UPDATE settings SET updated_at = ?1, notificationPreferences = CASE WHEN ?2 IS NULL
                THEN json_remove(notificationPreferences, '$.polls')
                ELSE json_set(CASE WHEN json_type(notificationPreferences) = 'object' THEN notificationPreferences ELSE '{}' END,
                    '$.polls', json(?2)) END
            WHERE accountDid = ?3
            """,
            [now.milliseconds, wanted.map { jsonArray($0.map(\.rawValue)) }, db.key(draft.did)]
        )
        if let wanted { try db.stars.suppress(pollsExcept: wanted, of: draft.did, now) }
        return true
    }

    /// Raises the generation of an account, which ends what began before.
    ///
    /// - Parameter dueAt: When it is due, if it is not leased; `nil` leaves the time. A leased one is due when it is released.
    func changed(_ account: DID, dueAt: Timestamp?, now: Timestamp) throws {
        try db.run(
            "UPDATE accounts SET generation = generation + 1, updated_at = ? WHERE account = ?",
            [now.milliseconds, db.key(account)]
        )
        guard let dueAt else { return }
        try db.run(
            "UPDATE leases SET due_at = ? WHERE account = ? AND owner IS NULL",
            [dueAt.milliseconds, db.key(account)]
        )
    }

    /// Ends the service of an account.
    ///
    /// - Returns: Whether it was served.
    @discardableResult
    func leave(_ account: DID) throws -> Bool {
        let row = try db.row(
            "SELECT a.generation, l.epoch FROM accounts a JOIN leases l ON l.account = a.account WHERE a.account = ?",
            [db.key(account)]
        )
        guard let row else { return false }
        try db.identity.raiseGeneration(to: max(row["generation"], row["epoch"]))
        try db.run("DELETE FROM accounts WHERE account = ?", [db.key(account)])
        return true
    }
}

extension AccountStatus: SQLReadable {}

extension [String] {
    /// The texts without those that came before.
    fileprivate var firstOfEach: [String] {
        var seen = Set<String>()
        return filter { seen.insert($0).inserted }
    }
}
