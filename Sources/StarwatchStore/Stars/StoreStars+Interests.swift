package import StarwatchCore

extension StoreStars {
    /// The interests of `account`.
    package func interests(of account: DID) async throws(StoreError) -> Interests {
        if let claimed = store.memory.accounts.look(at: account, \.claimed) { return claimed.interests }
        return try await store.direct(.read) { db in
            let row = try db.stars.interests(of: account)
            return try db.stars.interests(of: account, row?.stars, row?.preferences)
        }
    }
}

extension StarRows {
    /// Whether the account's interest in the stream is the same as when `interests` was read.
    func isWanted(_ stream: StreamKey, _ interests: Interests?) throws -> Bool {
        try holds(interests, of: stream.account, stars: db.context.options.namesStars(stream.poll))
    }

    /// Whether an account's interests are still `interests`; always true for `nil`.
    ///
    /// - Parameter stars: Whether to compare the stars, beside the preferences.
    func holds(_ interests: Interests?, of account: DID, stars: Bool) throws -> Bool {
        guard let interests else { return true }
        let row = try self.interests(of: account)
        guard row?.preferences ?? "{}" == interests.preferences else { return false }
        guard stars, row?.stars != interests.storedStars else { return true }
        // The same stars can be encrypted anew, so another stored form alone is no change.
        let now = try decoded(row?.stars, of: account)
        return (now ?? []) == interests.stars && (now == nil) == interests.areStarsUnreadable
    }

    /// The stars of a stored form; `nil` if they are unreadable.
    func decoded(_ stored: String?, of account: DID) throws -> [String]? {
        guard let stored else { return [] }
        return try ifReadable { try db.opened(stored, .stars, row: db.key(account)) as String }.flatMap(decodeStars)
    }

    /// - Parameters:
    ///   - stars: The stored form of the stars; `nil` for an unknown account.
    ///   - preferences: The stored preferences.
    func interests(of account: DID, _ stored: String?, _ preferences: String?) throws -> Interests {
        let stars = try decoded(stored, of: account)
        return Interests(
            stars: stars ?? [],
            areStarsUnreadable: stars == nil,
            preferences: preferences ?? "{}",
            storedStars: stored
        )
    }

    func interests(of account: DID) throws -> (stars: String, preferences: String)? {
        try db.row(
            "SELECT starredPlanHandleIds, notificationPreferences FROM settings WHERE accountDid = ?",
            [db.key(account)]
        ).map { (try $0["starredPlanHandleIds"], try $0["notificationPreferences"]) }
    }

    /// Tells whether an account wants a change from a poll: the poll is configured, runs and is not opted out from, and
    /// if it asks for starred plans, the change is of one. The plan of some offers is not known.
    func wish(of account: DID) throws -> (PollName, Change) -> Bool {
        let row = try interests(of: account)
        let preferences = row?.preferences ?? "{}"
        let off = WantedPolls.optedOut(preferences)
        // As in a cycle: the active identity wants all polls.
        let wanted = try db.identity.isSignedIn(account) ? nil : WantedPolls.read(preferences)
        let stars = try decoded(row?.stars, of: account).map(Set.init)
        let (polls, disabled) = (db.context.options.pollsOfKind, db.context.options.disabledPolls)
        return { poll, change in
            guard let kind = polls.first(where: { $0.value.contains(poll) })?.key, !disabled.contains(poll),
                WantedPolls.has(poll, of: kind, optedOut: off, wanted: wanted)
            else { return false }
            return !kind.needsStars || change.isOffer || stars?.contains(change.plan) ?? true
        }
    }
}
