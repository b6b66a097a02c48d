internal import Crypto
package import StarwatchCore

/// `auth.kind: shared_secret`: mints HS256 tokens with the secret the server has too (R-REQ-05).
///
/// Whoever holds the secret can mint a token of anybody (C-122): a DID key is better where the server takes it.
package actor SharedSecretTokenProvider: TokenProvider {
    private var file: SecretFile
    private let lifetime: Duration
    private let refreshBefore: Duration
    private let makeID: @Sendable () -> String
    private var secret: SymmetricKey?
    private var kept = MintedToken()

    /// - Parameters:
    ///   - lifetime: From `iat` to `exp`.
    ///   - refreshBefore: How long before its expiry a token is replaced, at most half of `lifetime` (C-117).
    ///   - makeID: A new `jti` each time it is called.
    package init(
        file: SecretFile,
        lifetime: Duration = .seconds(3600),
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
        let secret = try currentSecret()
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
        let token = AccessToken(rawValue: CompactJWT.sign(claims, secret: secret), expiresAt: claims.expiresAt)
        if purpose == .poll { kept.keep(token, for: account, dialect: dialect, now: serverTime) }
        return token
    }

    package func refuse(_ token: AccessToken) async {
        kept.drop(token)
    }

    package func forget() async { kept.drop() }

    package func validate(account: DID) async throws(TokenError) {
        _ = try currentSecret()
    }

    package var expiry: Timestamp? { get async { kept.expiry } }

    private func currentSecret() throws(TokenError) -> SymmetricKey {
        if let bytes = try file.readIfChanged() {
            secret = SymmetricKey(data: bytes)
            kept.drop()
        }
        guard let secret else { throw .fileUnreadable(setting: "auth.secret_file") }
        return secret
    }
}
