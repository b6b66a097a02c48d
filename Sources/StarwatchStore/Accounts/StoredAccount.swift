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
    /// The time since which one of them has been due.
    package var oldestDue: Timestamp?
}
