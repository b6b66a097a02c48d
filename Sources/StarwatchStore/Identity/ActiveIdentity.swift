package import StarwatchCore

/// The identity whose stars are watched.
package struct ActiveIdentity: Sendable, Hashable {
    /// `nil` after signing out; nothing is polled then.
    package let did: DID?
    /// A number that rises with every change. A poll that began under an earlier one commits nothing.
    package let generation: Int
}

/// The result of a change of identity.
package struct IdentityChange: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// Whether anything changed; `false` if the identity was already active.
    package let changed: Bool
    /// The number of the former identity's rows that will not be announced.
    package let cancelledRows: Int
}
