/// A stored key that signs tokens, with its secret. Its description never shows the secret.
package struct SigningKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The name of the key, which stands in the header of its tokens. It does not reveal the key.
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
        self.kid = kid
        self.algorithm = algorithm
        self.secret = secret
        self.createdAt = createdAt
        self.endsAt = endsAt
    }

    /// Whether a text can name a key: 1 to 64 letters, digits, `.`, `_` and `-`. It needs no escape in JSON.
    package static func isKid(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || "._-".utf8.contains(byte)
            }
    }

    package var description: String { "<signing key \(kid)>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
