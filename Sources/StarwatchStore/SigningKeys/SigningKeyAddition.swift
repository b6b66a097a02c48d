/// The result of adding a signing key.
package enum SigningKeyAddition: Sendable, Hashable {
    /// The key is active. A former one is retiring.
    case added
    /// The key was active already, as after a call whose answer was lost.
    case known
    /// Another key has that name, or had it.
    case kidUsed
    /// The account is not the active identity. Nothing was added.
    case notActive
}
