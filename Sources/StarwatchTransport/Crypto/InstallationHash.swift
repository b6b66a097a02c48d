internal import Crypto
package import StarwatchCore

/// Hashes with the installation's key. They are stable within one installation, and reveal nothing without the key.
package struct InstallationHash: Sendable {
    /// The beginning of the name of every change.
    package static let changePrefix = "chg_"
    private let key: SymmetricKey

    /// - Parameter key: 32 random bytes.
    package init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// Replaces a DID in logs: `did:hash:` and 16 hexadecimal digits.
    package func hash(_ did: DID) -> String { "did:hash:" + digits(16, of: did.rawValue) }

    /// Names a change without its claim id, which would lead to the plan and its author: `chg_` and 16 hexadecimal digits.
    package func hash(_ change: JWTID) -> String { Self.changePrefix + digits(16, of: change.rawValue) }

    /// Tells two configurations apart, in 12 hexadecimal digits. A configuration can contain secrets, and without the key
    /// nobody can try guesses.
    package func hash(configuration text: String) -> String { digits(12, of: text) }

    private func digits(_ count: Int, of text: String) -> String {
        Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key).prefix(count / 2))
    }
}

/// A fixed-length identifier of a text.
package enum ContentHash {
    /// The SHA-256 of the text, in hexadecimal.
    package static func text(_ text: String) -> String { Hex.encode(SHA256.hash(data: Array(text.utf8))) }
}
