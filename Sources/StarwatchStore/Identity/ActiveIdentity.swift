package import StarwatchCore

/// Whose stars are watched now.
package struct ActiveIdentity: Sendable, Hashable {
    /// `nil`: signed out, nothing is polled.
    package let did: DID?
    /// Rises with every change; a poll that began under another one commits nothing.
    package let generation: Int
}

/// What a change of identity did.
package struct IdentityChange: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// Whether anything changed; `false` when the identity was the active one already.
    package let changed: Bool
    /// Rows of the former identity that will not be announced.
    package let cancelledRows: Int
}
