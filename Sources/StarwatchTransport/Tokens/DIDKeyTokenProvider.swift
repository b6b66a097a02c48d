package import StarwatchCore

/// `auth.kind: did_key`: mints ES256K tokens with the private key of the account's own `did:ethr`.
package actor DIDKeyTokenProvider: TokenProvider {
    private static let setting = "auth.key_file"

    private var file: SecretFile
    private let lifetime: Duration
    private let refreshBefore: Duration
    private let makeID: @Sendable () -> String
    private var key: Secp256k1PrivateKey?
    private var kept = MintedToken()

    /// - Parameters:
    ///   - file: 64 hexadecimal digits, or PEM as SEC 1 or PKCS #8.
    ///   - lifetime: From `iat` to `exp`; 60 s as the apps have it (R-REQ-13).
    ///   - refreshBefore: How long before its expiry a token is replaced, at most half of `lifetime` (C-117).
    ///   - makeID: A new `jti` each time it is called; of use in the canonical dialect only.
    package init(
        file: SecretFile,
        lifetime: Duration = .seconds(60),
        refreshBefore: Duration = .seconds(600),
        makeID: @escaping @Sendable () -> String = { RandomID.uuid() }
    ) {
        self.file = file
        self.lifetime = lifetime
        self.refreshBefore = refreshBefore
        self.makeID = makeID
    }

    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        let key = try currentKey(of: account)
        if purpose == .poll,
            let token = kept.usable(
                for: account,
                dialect: dialect,
                now: serverTime,
                refreshBefore: refreshBefore
            )
        {
            return token
        }
        let claims = TokenClaims(
            account: account,
            dialect: dialect,
            issuedAt: serverTime,
            lifetime: lifetime,
            tokenID: makeID()
        )
        guard let text = CompactJWT.sign(claims, key: key) else {
            throw .fileInvalid(setting: Self.setting, advice: "its key cannot sign")
        }
        let token = AccessToken(rawValue: text, expiresAt: claims.expiresAt)
        if purpose == .poll { kept.keep(token, for: account, dialect: dialect, now: serverTime) }
        return token
    }

    package func refuse(_ token: AccessToken) async {
        kept.drop(token)
    }

    package func forget() async { kept.drop() }

    /// Refuses an account whose DID is not the key's: the server would say no more than that it found no key.
    package func validate(account: DID) async throws(TokenError) {
        _ = try currentKey(of: account)
    }

    package var expiry: Timestamp? { get async { kept.expiry } }

    private func currentKey(of account: DID) throws(TokenError) -> Secp256k1PrivateKey {
        if let bytes = try file.readIfChanged() {
            key = nil
            kept.drop()
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
