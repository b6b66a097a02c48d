internal import Crypto
package import StarwatchCore

/// The content of a key file, as a signing key to store.
package enum SigningKeyContent {
    /// Returns the secret of ``SigningKey/secret``.
    ///
    /// - Parameter setting: Names the file in the error.
    /// - Throws: ``TokenError/fileInvalid(setting:advice:)``, or ``TokenError/keyMismatch`` and
    ///   ``TokenError/unsupportedDID`` if a private key is not the account's own.
    package static func secret(
        in content: [UInt8],
        _ algorithm: SigningAlgorithm,
        of account: DID,
        setting: String
    ) throws(TokenError) -> [UInt8] {
        switch algorithm {
        case .hs256:
            try check(sharedSecret: content, setting: setting)
            return content
        case .es256k:
            let number: [UInt8]
            do { number = try PrivateKeyFile.number(in: content) } catch {
                throw .fileInvalid(setting: setting, advice: error.advice)
            }
            guard let key = Secp256k1PrivateKey(number) else {
                throw .fileInvalid(setting: setting, advice: PrivateKeyFile.Failure.unreadable.advice)
            }
            guard let address = EthereumAddress(account) else { throw .unsupportedDID }
            guard address == key.address else { throw .keyMismatch }
            return number
        }
    }

    /// Checks that a secret is as long as HS256 demands: 32 bytes (RFC 7518, section 3.2). Who has one token can guess a
    /// shorter secret offline.
    static func check(sharedSecret: [UInt8], setting: String) throws(TokenError) {
        guard sharedSecret.count < 32 else { return }
        throw .fileInvalid(
            setting: setting,
            advice: "it has \(sharedSecret.count) bytes, and HS256 needs 32 or more; use a longer one"
        )
    }

    /// The name of a key that is given none: 12 hexadecimal digits of a keyed hash, which do not reveal it.
    package static func kid(of secret: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("starwatch signing key id".utf8),
            using: SymmetricKey(data: secret)
        )
        return Hex.encode(code.prefix(6))
    }
}
