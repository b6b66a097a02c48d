package import StarwatchCore

/// The right of an owner to work for an account until a time. Another owner can then take it over.
package struct AccountLease: Sendable, Hashable {
    package let account: DID
    /// The account's generation at the claim, which every commit must pass back.
    package let generation: Int
    /// Counts the claims of the account, so that two leases of one owner differ.
    package let epoch: Int
    package let owner: String
    /// The time when the account was due.
    package let dueAt: Timestamp
    /// Whether the former owner had released the account. Otherwise its work was interrupted.
    package let wasReleased: Bool
    /// Whether changes or notifications waited at the claim, for delivery or an acknowledgement, or an operator changed the account
    /// since its last request.
    package let hasOpenRows: Bool

    /// The requests of a visit that its lease counts, so that they go without a write. If it is never released, the next claim
    /// counts them as sent.
    package static let requests = 5
}

/// The work that visits can do now.
package enum VisitWork: Sendable {
    case all
    /// Delivery alone, because the server takes no requests.
    case delivery
}

/// The end of a lease after a visit.
package struct LeaseEnd: Sendable, Hashable {
    package let lease: AccountLease
    /// The time of the next visit. A change since the claim makes the account due at the change, if that is earlier.
    package let next: Timestamp
    /// The last cycles of the visit; `nil` keeps a stored time.
    package let asked: CycleTimes

    package init(_ lease: AccountLease, next: Timestamp, asked: CycleTimes = CycleTimes()) {
        (self.lease, self.next, self.asked) = (lease, next, asked)
    }
}
