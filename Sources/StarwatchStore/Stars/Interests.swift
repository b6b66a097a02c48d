import GRDB
package import StarwatchCore

/// An account's interests: its stars and its preferences.
package struct Interests: Sendable, Hashable {
    /// The starred plans in the order of starring; empty for an unknown account, and if they are unreadable.
    package let stars: [String]
    /// Whether the stored stars are no list of texts. Nobody but a change of the stars overwrites them (R-VAL-12).
    package let areStarsUnreadable: Bool
    /// `notificationPreferences`, a JSON object; `"{}"` if none are stored.
    package let preferences: String
    /// ``stars`` in their stored form, which is cheaper to compare.
    let storedStars: String?
}

extension Store {
    /// The interests of `account`.
    package func interests(of account: DID) throws(StoreError) -> Interests {
        try direct(.read) { db in
            let row = try db.interests(of: account)
            let json: String? = try db.opened(row?[0], .stars, row: db.key(account))
            let stars = json.map(decodeStars) ?? []
            return Interests(
                stars: stars ?? [],
                areStarsUnreadable: stars == nil,
                preferences: row?[1] ?? "{}",
                storedStars: row?[0]
            )
        }
    }
}

extension Session {
    /// Whether an account's interests are still `interests`; always true for `nil`.
    ///
    /// - Parameter stars: Whether to compare the stars, beside the preferences.
    func holds(_ interests: Interests?, of account: DID, stars: Bool) throws -> Bool {
        guard let interests else { return true }
        let row = try self.interests(of: account)
        return row?[1] ?? "{}" == interests.preferences && (!stars || row?[0] == interests.storedStars)
    }

    fileprivate func interests(of account: DID) throws -> Row? {
        try row(
            "SELECT starredPlanHandleIds, notificationPreferences FROM settings WHERE accountDid = ?",
            [key(account)]
        )
    }
}
