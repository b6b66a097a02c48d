internal import Crypto
package import StarwatchCore

/// Names a change without its claim id, which would lead to the plan and its author.
package struct ChangeHash: Sendable {
    /// The beginning of every name.
    package static let prefix = "chg_"
    private let key: SymmetricKey

    /// Creates the hash with the installation's key, 32 random bytes.
    package init(key: [UInt8]) {
        self.key = SymmetricKey(data: key)
    }

    /// `chg_` and the first 16 hexadecimal digits of the HMAC-SHA-256 of the claim id.
    package func hash(_ change: JWTID) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(change.rawValue.utf8), using: key)
        return Self.prefix + Hex.encode(code.prefix(8))
    }
}
