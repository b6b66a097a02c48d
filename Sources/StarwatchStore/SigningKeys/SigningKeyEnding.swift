/// The result of revoking a signing key.
package enum SigningKeyEnding: Sendable, Hashable {
    /// The secret is destroyed.
    case revoked
    /// The secret was destroyed earlier.
    case revokedBefore
    /// The key is the active one. Nothing was revoked.
    case active
    /// There is no key of that name.
    case unknown
}
