internal import Crypto
package import StarwatchCore

/// `auth.kind: shared_secret`: mints HS256 tokens with a secret shared with the server.
///
/// The secret can mint a token for any account: prefer a DID key where the server accepts one.
package actor SharedSecretTokenProvider: MintingTokenProvider {
    private static let setting = "auth.secret_file"

    private var file: SecretFile
    private var secret: SymmetricKey?
    var minted: MintedToken

    /// - Parameters:
    ///   - file: The bytes of the secret.
    ///   - lifetime: Time from `iat` to `exp`.
    ///   - refreshBefore: Time before expiry at which a token is replaced, at most half of `lifetime`.
    ///   - scope: The scope of canonical tokens.
    ///   - makeID: Returns a new `jti` on each call.
    package init(
        file: SecretFile,
        lifetime: Duration = .seconds(3600),
        refreshBefore: Duration = .seconds(600),
        scope: String = TokenScope.standard,
        makeID: @escaping @Sendable () -> String = { RandomID.uuid() }
    ) {
        self.file = file
        minted = MintedToken(lifetime: lifetime, refreshBefore: refreshBefore, scope: scope, makeID: makeID)
    }

    package func validate(account: DID) async throws(TokenError) { _ = try currentSecret() }

    func mint(for account: DID, dialect: Dialect, serverTime: Timestamp) async throws(TokenError) -> AccessToken {
        let secret = try currentSecret()
        let claims = minted.claims(for: account, dialect: dialect, now: serverTime)
        return AccessToken(rawValue: CompactJWT.sign(claims, secret: secret), expiresAt: claims.expiresAt)
    }

    private func currentSecret() throws(TokenError) -> SymmetricKey {
        if let bytes = try file.readIfChanged() {
            try SigningKeyContent.check(sharedSecret: bytes, setting: Self.setting)
            secret = SymmetricKey(data: bytes)
            minted.drop()
        }
        guard let secret else { throw .fileUnreadable(setting: Self.setting) }
        return secret
    }
}
