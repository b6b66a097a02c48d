package import StarwatchCore

/// An account's interests: its stars and its preferences.
package struct Interests: Sendable {
    /// The starred plans in the order of starring; empty for an unknown account, and if they are unreadable.
    package let stars: [String]
    /// Whether the stored stars do not open, or are no list of texts. Nobody but a change of the stars overwrites them
    /// (R-VAL-12).
    package let areStarsUnreadable: Bool
    /// `notificationPreferences`, a JSON object; `"{}"` if none are stored.
    package let preferences: String
    /// ``stars`` in their stored form, which is cheaper to compare. A rotation of the data keys changes it.
    let storedStars: String?
}

/// Interests are equal if they mean the same, whatever key their stars are encrypted with.
extension Interests: Hashable {
    package static func == (left: Interests, right: Interests) -> Bool {
        left.stars == right.stars && left.areStarsUnreadable == right.areStarsUnreadable
            && left.preferences == right.preferences
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(stars)
        hasher.combine(preferences)
    }
}

extension StoreStars {
    /// The interests of `account`.
    package func interests(of account: DID) async throws(StoreError) -> Interests {
        try await store.direct(.read) { db in
            let row = try db.stars.interests(of: account)
            let stars = try db.stars.decoded(row?.stars, of: account)
            return Interests(
                stars: stars ?? [],
                areStarsUnreadable: stars == nil,
                preferences: row?.preferences ?? "{}",
                storedStars: row?.stars
            )
        }
    }
}

extension StarRows {
    /// Whether the account's interest in the stream is the same as when `interests` was read.
    func isWanted(_ stream: StreamKey, _ interests: Interests?) throws -> Bool {
        try holds(interests, of: stream.account, stars: db.context.options.starredPolls.contains(stream.poll))
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

    func interests(of account: DID) throws -> (stars: String, preferences: String)? {
        try db.row(
            "SELECT starredPlanHandleIds, notificationPreferences FROM settings WHERE accountDid = ?",
            [db.key(account)]
        ).map { (try $0["starredPlanHandleIds"], try $0["notificationPreferences"]) }
    }
}
