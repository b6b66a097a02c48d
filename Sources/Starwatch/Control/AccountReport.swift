import StarwatchCore

/// One of many accounts, as an operator sees it.
package struct AccountReport: Sendable, Codable, Hashable {
    /// Served only by the control API.
    package var did: String
    /// The account's pseudonym in logs and in notifications.
    package var pseudonym: String
    /// `active` or `paused`.
    package var status: String
    /// Number of starred plans.
    package var stars: Int
    /// Time of its addition.
    package var addedAt: String
    /// Time of its next visit, by the local clock; `nil` while it is paused.
    package var dueAt: String?
    /// Start of the last cycle that asked the server; `nil` before the first.
    package var lastAttempt: String?
    /// End of the last cycle that succeeded; `nil` before the first.
    package var lastSuccess: String?
    /// Whether the agent works for it now.
    package var working: Bool
}

package struct AccountListing: Sendable, Codable {
    package var accounts: [AccountReport]
}

/// A page of the accounts.
package struct AccountQuery: Sendable {
    package static let listLimit = 1000

    package var limit = 100
    /// The DID of the last account of the former page; `nil` for the first page.
    package var after: String?

    package init() {}
}

/// `{"accounts": [{"did": "did:…", "stars": ["…"]}]}`. Accounts that exist get the stars, if any are given.
package struct AccountAdditions: Sendable, Codable {
    package struct Entry: Sendable, Codable, Hashable {
        package var did: String
        /// The starred plans; `nil` leaves those of an account that exists.
        package var stars: [String]?

        package init(did: String, stars: [String]? = nil) { (self.did, self.stars) = (did, stars) }
    }

    /// The largest number of entries of one request.
    package static let limit = 1000

    package var accounts: [Entry]

    package init(accounts: [Entry]) { self.accounts = accounts }
}

/// The result for each entry, in their order. A refused entry changes nothing, and the others are added.
package struct AccountAdditionsReport: Sendable, Codable {
    package struct Entry: Sendable, Codable, Hashable {
        /// `added`, `changed`, `unchanged` or `refused`.
        package var result: String
        /// One sentence; `nil` unless it is refused.
        package var problem: String?
    }

    package var accounts: [Entry]
    /// A sentence about the schedules if they ask for more requests than the limit allows; `nil` if they do not.
    package var warning: String?
}
