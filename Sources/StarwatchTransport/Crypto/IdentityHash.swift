internal import Crypto
package import StarwatchCore

/// Replaces a DID in logs by a keyed hash. The hash of a DID is stable within one installation and reveals nothing
/// without the installation's key.
package struct IdentityHash: Sendable {
    private let key: SymmetricKey

    /// Creates the hash with the installation's key, 32 random bytes.
    package init(key: [UInt8]) {
        self.key = SymmetricKey(data: key)
    }

    /// `did:hash:` and the first 16 hexadecimal digits of the HMAC-SHA-256 of the DID.
    package func hash(_ did: DID) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(did.rawValue.utf8), using: key)
        return "did:hash:" + Hex.encode(code.prefix(8))
    }
}
