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
            // RFC 7518, section 3.2. Who has one token can guess a shorter secret offline.
            guard content.count >= 32 else {
                throw .fileInvalid(
                    setting: setting,
                    advice: "it has \(content.count) bytes, and HS256 needs 32 or more; use a longer one"
                )
            }
            return content
        case .es256k:
            let (number, key) = try privateKey(in: content, setting: setting)
            guard let address = EthereumAddress(account) else { throw .unsupportedDID }
            guard address == key.address else { throw .keyMismatch }
            return number
        }
    }

    /// Returns the DID of a private key, its address in mixed case as apps write it (EIP-55).
    ///
    /// - Parameter setting: Names the file in the error.
    package static func did(of content: [UInt8], setting: String) throws(TokenError) -> DID {
        let address = try privateKey(in: content, setting: setting).key.address
        guard let did = DID("did:ethr:" + address.checksummed) else {
            preconditionFailure("an address has 40 digits")
        }
        return did
    }

    private static func privateKey(
        in content: [UInt8],
        setting: String
    ) throws(TokenError) -> (number: [UInt8], key: Secp256k1PrivateKey) {
        do throws(PrivateKeyFile.Failure) { return try PrivateKeyFile.parse(content) } catch {
            throw .fileInvalid(setting: setting, advice: error.advice)
        }
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
