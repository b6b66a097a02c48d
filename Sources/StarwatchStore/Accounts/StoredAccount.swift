package import StarwatchCore

/// Whether work is done for an account that is served.
package enum AccountStatus: String, Sendable, CaseIterable {
    case active
    case paused
}

/// An account that is served.
package struct StoredAccount: Sendable, Hashable {
    package let did: DID
    package let status: AccountStatus
    /// Rises with every change of the account, so that work that began before it writes nothing.
    package let generation: Int
    package let addedAt: Timestamp
    /// The number of starred plans; 0 also if they are unreadable.
    package let stars: Int
    /// The polls that it wants; `nil` for all.
    package let polls: [PollName]?
    /// The time of the next visit; the end of the lease if it is leased.
    package let dueAt: Timestamp
    package let lastAttempt: Timestamp?
    package let lastSuccess: Timestamp?
    /// Whether an owner has claimed the account and not released it.
    package let isLeased: Bool
    /// The states of the addresses that it has brought, by their sinks.
    package let sinks: [String: SinkAddressState]
    /// The reasons of the addresses that reject everything, by their sinks.
    package let rejections: [String: FailureReason]
}

/// The numbers of served accounts.
package struct AccountCounts: Sendable, Hashable {
    package let active: Int
    package let paused: Int
    /// Accounts whose lease has not ended.
    package let leased: Int
    /// Active accounts that can be claimed now.
    package let due: Int
    /// Active accounts without a success since the time that was asked for.
    package let stale: Int
    /// Active accounts without an address at any of the sinks that were asked for.
    package let unreachable: Int
    /// The numbers of active accounts by their preferences, without those that have none.
    package let preferences: [String: Int]
    /// The time since which one of them has been due.
    package var oldestDue: Timestamp?
}

/// The state of an address that an account brought.
package enum SinkAddressState: String, Sendable, Hashable {
    case set
    /// It rejected all that was sent to it of late. It is tried with the next change.
    case rejecting
    /// It returned 410 Gone and gets nothing more, until it is added again.
    case gone
}

/// The data to store of an account.
package struct AccountDraft: Sendable, Hashable {
    package var did: DID
    /// The starred plans; `nil` leaves those of a known account, and a new one has none.
    package var stars: [String]?
    /// The names of the polls that it wants, empty for all; `nil` leaves those of a known account, and a new one has all.
    package var polls: [PollName]?
    /// The addresses to store by their sinks; `nil` takes one away. Those of other sinks stay.
    package var sinks: [String: SinkAddress?] = [:]

    package init(did: DID, stars: [String]? = nil) { (self.did, self.stars) = (did, stars) }
}

/// The result of adding an account.
package enum AccountAddition: Sendable, Hashable {
    case added
    /// The account was stored, and not served. It begins anew: its changes since it left are not announced.
    case returned
    /// The account was served before, with other stars, polls, addresses or another server.
    case changed
    case unchanged
    /// Another agent has taken over the account since that time. Nothing was changed.
    case hasMoved(since: Timestamp)
}
