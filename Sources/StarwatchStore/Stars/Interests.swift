import GRDB
package import StarwatchCore

/// What an account wants to hear of: its stars and its preferences.
package struct Interests: Sendable, Hashable {
    /// The starred plans, in the order in which they were starred; empty for an account never seen.
    package let stars: [String]
    /// `notificationPreferences`, a JSON object; `"{}"` when nothing is stored.
    package let preferences: String
    /// ``stars`` as they are stored, which is cheaper to compare.
    let storedStars: String?
}

extension Store {
    /// What `account` wants to hear of.
    package func interests(of account: DID) throws(StoreError) -> Interests {
        try direct(.read) { db in
            let row = try db.interests(of: account)
            return Interests(
                stars: try row.map { try decodeStars($0[0]) } ?? [],
                preferences: row?[1] ?? "{}",
                storedStars: row?[0]
            )
        }
    }
}

extension Database {
    /// Whether an account wants to hear of the same as when `interests` was read; `nil`: whatever it is.
    ///
    /// - Parameter stars: Whether its stars matter, and not its preferences only.
    func holds(_ interests: Interests?, of account: DID, stars: Bool) throws -> Bool {
        guard let interests else { return true }
        let row = try self.interests(of: account)
        return row?[1] ?? "{}" == interests.preferences && (!stars || row?[0] == interests.storedStars)
    }

    fileprivate func interests(of account: DID) throws -> Row? {
        try row(
            "SELECT starredPlanHandleIds, notificationPreferences FROM settings WHERE accountDid = ?",
            [account.rawValue]
        )
    }
}
