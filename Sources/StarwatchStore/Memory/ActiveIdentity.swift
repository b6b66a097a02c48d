package import StarwatchCore

/// The identity whose stars are watched.
package struct ActiveIdentity: Sendable, Hashable {
    /// `nil` after signing out; nothing is polled then.
    package let did: DID?
    /// A number that rises with every change. A poll that began under an earlier one commits nothing.
    package let generation: Int
}
