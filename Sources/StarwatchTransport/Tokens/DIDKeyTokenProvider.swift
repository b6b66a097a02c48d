package import StarwatchCore

/// `auth.kind: did_key`: mints ES256K tokens with the private key of the account's own `did:ethr`.
package actor DIDKeyTokenProvider: MintingTokenProvider {
    private static let setting = "auth.key_file"

    private var file: SecretFile
    private var key: Secp256k1PrivateKey?
    var minted: MintedToken

    /// - Parameters:
    ///   - file: 64 hexadecimal digits, or PEM as SEC 1 or PKCS #8.
    ///   - lifetime: Time from `iat` to `exp`; 60 s, like the apps.
    ///   - refreshBefore: Time before expiry at which a token is replaced, at most half of `lifetime`.
    ///   - scope: The scope of canonical tokens.
    ///   - makeID: Returns a new `jti` on each call. Only canonical tokens carry it.
    package init(
        file: SecretFile,
        lifetime: Duration = .seconds(60),
        refreshBefore: Duration = .seconds(600),
        scope: String = TokenScope.standard,
        makeID: @escaping @Sendable () -> String = { RandomID.uuid() }
    ) {
        self.file = file
        minted = MintedToken(lifetime: lifetime, refreshBefore: refreshBefore, scope: scope, makeID: makeID)
    }

    /// Rejects an account whose DID does not match the key: the server would only report that it found no key.
    package func validate(account: DID) async throws(TokenError) { _ = try currentKey(of: account) }

    /// The DID of the key, its address in mixed case as apps write it (EIP-55); `nil` if the file holds no key.
    package var ownDID: DID? { (try? file.read()).flatMap { try? Self.did(ofKey: $0, setting: Self.setting) } }

    /// Returns the DID of the key in a file's content.
    ///
    /// - Parameter setting: Names the file in the error.
    package static func did(ofKey content: [UInt8], setting: String) throws(TokenError) -> DID {
        let key: Secp256k1PrivateKey
        do { key = try PrivateKeyFile.parse(content) } catch {
            throw .fileInvalid(setting: setting, advice: error.advice)
        }
        guard let did = DID("did:ethr:" + key.address.checksummed) else {
            preconditionFailure("an address has 40 digits")
        }
        return did
    }

    func mint(for account: DID, dialect: Dialect, serverTime: Timestamp) async throws(TokenError) -> AccessToken {
        let key = try currentKey(of: account)
        let claims = minted.claims(for: account, dialect: dialect, now: serverTime)
        guard let text = CompactJWT.sign(claims, key: key) else {
            throw .fileInvalid(setting: Self.setting, advice: "its key cannot sign; replace the key")
        }
        return AccessToken(rawValue: text, expiresAt: claims.expiresAt)
    }

    private func currentKey(of account: DID) throws(TokenError) -> Secp256k1PrivateKey {
        if let bytes = try file.readIfChanged() {
            key = nil
            minted.drop()
            do {
                key = try PrivateKeyFile.parse(bytes)
            } catch {
                throw .fileInvalid(setting: Self.setting, advice: error.advice)
            }
        }
        guard let key else {
            throw .fileInvalid(setting: Self.setting, advice: PrivateKeyFile.Failure.unreadable.advice)
        }
        guard let address = EthereumAddress(account) else { throw .unsupportedDID }
        guard address == key.address else { throw .keyMismatch }
        return key
    }
}
