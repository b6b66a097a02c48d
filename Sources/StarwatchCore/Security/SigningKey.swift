/// A stored key that signs tokens, with its secret. Its description never shows the secret.
package struct SigningKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The plain name of the key, which stands in the header of its tokens. It does not reveal the key.
    package let kid: String
    package let algorithm: SigningAlgorithm
    /// HS256: the secret's bytes. ES256K: the 32 bytes of the private key.
    package let secret: [UInt8]
    package let createdAt: Timestamp
    /// The time until which a replaced key can still sign; `nil` for the newest one.
    package let endsAt: Timestamp?

    package init(
        kid: String,
        algorithm: SigningAlgorithm,
        secret: [UInt8],
        createdAt: Timestamp,
        endsAt: Timestamp? = nil
    ) {
        (self.kid, self.algorithm, self.secret, self.createdAt) = (kid, algorithm, secret, createdAt)
        self.endsAt = endsAt
    }

    package var description: String { "<signing key \(kid)>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The algorithm of a signing key, by its name in the header of a token (RFC 7518, RFC 8812).
package enum SigningAlgorithm: String, Sendable, Codable, CaseIterable {
    /// A secret shared with the server.
    case hs256 = "HS256"
    /// The private key of a `did:ethr`.
    case es256k = "ES256K"
}

/// The rule for the former keys when a new one becomes active.
package struct SigningGrace: Sendable, Hashable {
    /// The time after which the former keys are destroyed.
    package let duration: Duration
    /// Whether the former keys can sign until then, if the server refuses the new one.
    package let canSign: Bool

    /// 7 days, in which the server can get to know the new key.
    package static let normal = SigningGrace(duration: .seconds(7 * 86_400), canSign: true)
    /// 1 hour, in which the server still accepts tokens that were signed before. The former keys sign nothing more.
    package static let emergency = SigningGrace(duration: .seconds(3600), canSign: false)
}

/// The state of a key that signs tokens. The raw values are stored and shown.
package enum SigningKeyState: String, Sendable, Codable, CaseIterable {
    /// It signs.
    case active
    /// A newer key replaced it.
    case retiring
    /// Its secret is destroyed.
    case revoked
}
