/// The state of a key that signs tokens. The raw values are stored and shown.
package enum SigningKeyState: String, Sendable, Codable, CaseIterable {
    /// It signs.
    case active
    /// A newer key replaced it.
    case retiring
    /// Its secret is destroyed.
    case revoked
}
