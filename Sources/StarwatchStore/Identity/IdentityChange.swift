/// The result of a change of identity.
package struct IdentityChange: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// Whether anything changed; `false` if the identity was already active.
    package let changed: Bool
    /// The number of the former identity's rows that will not be announced.
    package let cancelledRows: Int
}
