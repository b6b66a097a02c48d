import StarwatchCore

/// A provider that obtains a new token on demand and keeps it for later polls.
protocol MintingTokenProvider: TokenProvider, Actor {
    var minted: MintedToken { get set }

    /// Obtains a new token.
    ///
    /// - Throws: ``TokenError`` when the token cannot be signed, or the command fails.
    func mint(
        for account: DID,
        dialect: Dialect,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken
}

extension MintingTokenProvider {
    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        // Before the kept token is used: a changed secret file invalidates it.
        try await validate(account: account)
        if purpose == .poll, let token = minted.usable(for: account, dialect: dialect, now: serverTime) {
            return token
        }
        let token = try await mint(for: account, dialect: dialect, serverTime: serverTime)
        if purpose == .poll { minted.keep(token, for: account, dialect: dialect, now: serverTime) }
        return token
    }

    package func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {
        minted.drop(token)
    }

    package func forget() async { minted.drop() }

    package var expiry: Timestamp? { get async { minted.expiry } }
}
