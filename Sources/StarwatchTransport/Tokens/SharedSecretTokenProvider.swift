internal import Crypto
package import StarwatchCore

/// `auth.kind: shared_secret`: mints HS256 tokens with a secret shared with the server (R-REQ-05).
///
/// The secret can mint a token for any account: prefer a DID key where the server accepts one.
package actor SharedSecretTokenProvider: MintingTokenProvider {
    private var file: SecretFile
    private let makeID: @Sendable () -> String
    private var secret: SymmetricKey?
    var minted: MintedToken

    /// - Parameters:
    ///   - file: The bytes of the secret.
    ///   - lifetime: Time from `iat` to `exp`.
    ///   - refreshBefore: How long before its expiry a token is replaced, at most half of `lifetime`.
    ///   - makeID: Returns a new `jti` on each call.
    package init(
        file: SecretFile,
        lifetime: Duration = .seconds(3600),
        refreshBefore: Duration = .seconds(600),
        makeID: @escaping @Sendable () -> String = { RandomID.uuid() }
    ) {
        self.file = file
        self.makeID = makeID
        minted = MintedToken(lifetime: lifetime, refreshBefore: refreshBefore)
    }

    package func validate(account: DID) async throws(TokenError) {
        _ = try currentSecret()
    }

    func mint(
        for account: DID,
        dialect: Dialect,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken {
        let secret = try currentSecret()
        let claims = TokenClaims(
            account: account,
            dialect: dialect,
            issuedAt: serverTime,
            lifetime: minted.lifetime,
            tokenID: makeID()
        )
        return AccessToken(rawValue: CompactJWT.sign(claims, secret: secret), expiresAt: claims.expiresAt)
    }

    private func currentSecret() throws(TokenError) -> SymmetricKey {
        if let bytes = try file.readIfChanged() {
            secret = SymmetricKey(data: bytes)
            minted.drop()
        }
        guard let secret else { throw .fileUnreadable(setting: "auth.secret_file") }
        return secret
    }
}
