package import StarwatchCore

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
    /// The account was served before, with other stars, polls, addresses or another server.
    case changed
    case unchanged
    /// Another agent has taken over the account since that time. Nothing was changed.
    case hasMoved(since: Timestamp)
}
