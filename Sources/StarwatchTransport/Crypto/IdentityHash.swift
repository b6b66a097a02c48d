internal import Crypto
package import StarwatchCore

/// Turns a DID into the name that logs may carry: the same for the same DID of one installation, and of no use to
/// anybody without the installation's key (R-LOG; semantics, "Logs").
package struct IdentityHash: Sendable {
    private let key: SymmetricKey

    /// Takes the installation's key; 32 random bytes are right.
    package init(key: [UInt8]) {
        self.key = SymmetricKey(data: key)
    }

    /// `did:hash:` and the first 16 hexadecimal digits of the HMAC-SHA-256 of the DID.
    package func hash(_ did: DID) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(did.rawValue.utf8), using: key)
        return "did:hash:" + Hex.encode(code.prefix(8))
    }
}
