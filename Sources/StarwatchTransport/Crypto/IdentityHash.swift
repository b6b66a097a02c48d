internal import Crypto
package import StarwatchCore

/// Replaces a DID in logs by a keyed hash. The hash of a DID is stable within one installation and reveals nothing
/// without the installation's key.
package struct IdentityHash: Sendable {
    private let key: SymmetricKey

    /// Creates the hash with the installation's key, 32 random bytes.
    package init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// `did:hash:` and the first 16 hexadecimal digits of the HMAC-SHA-256 of the DID.
    package func hash(_ did: DID) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(did.rawValue.utf8), using: key)
        return "did:hash:" + Hex.encode(code.prefix(8))
    }
}

/// Names a change without its claim id, which would lead to the plan and its author.
package struct ChangeHash: Sendable {
    /// The beginning of every name.
    package static let prefix = "chg_"
    private let key: SymmetricKey

    /// Creates the hash with the installation's key, 32 random bytes.
    package init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// `chg_` and the first 16 hexadecimal digits of the HMAC-SHA-256 of the claim id.
    package func hash(_ change: JWTID) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(change.rawValue.utf8), using: key)
        return Self.prefix + Hex.encode(code.prefix(8))
    }
}

/// Tells two configurations of one installation apart. A configuration can contain secrets, so the hash needs the
/// installation's key: without it nobody can try guesses.
package struct ConfigurationHash: Sendable {
    private let key: SymmetricKey

    /// Creates the hash with the installation's key, 32 random bytes.
    package init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// The first 12 hexadecimal digits of the HMAC-SHA-256 of the text.
    package func hash(_ text: String) -> String {
        Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key).prefix(6))
    }
}

/// A fixed-length identifier of a text.
package enum ContentHash {
    /// The SHA-256 of the text, in hexadecimal.
    package static func text(_ text: String) -> String { Hex.encode(SHA256.hash(data: Array(text.utf8))) }
}
