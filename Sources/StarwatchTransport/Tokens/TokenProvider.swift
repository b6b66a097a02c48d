package import StarwatchCore

/// What a token is wanted for.
package enum TokenPurpose: String, Sendable, CaseIterable {
    /// Reading; a token may serve many polls (C-120).
    case poll
    /// Acknowledging; each try gets a token that served no other (R-REQ-08).
    case acknowledge
}

/// Where bearer tokens come from.
///
/// A token belongs to one account: none is ever handed out for another (R-REQ-18).
package protocol TokenProvider: Sendable {
    /// A token that `account` may show now; `nil` means to ask without one.
    ///
    /// - Parameter serverTime: Now by the server's clock, which decides over `iat` and `exp` (C-138).
    func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken?

    /// Says that the server refused `token`: it is not handed out again, and the next call brings a new one.
    func refuse(_ token: AccessToken) async

    /// Drops the tokens that were minted or fetched: another identity is active (R-IDN-01).
    func forget() async

    /// Whether this provider can serve `account`, without asking for a token: the check at the start.
    func validate(account: DID) async throws(TokenError)

    /// When the token in use expires; `nil` when there is none, or none that says.
    var expiry: Timestamp? { get async }

    /// How many tokens of a pool could still be used when it was last asked; `nil` where there is no pool.
    var poolRemaining: Int? { get async }
}

extension TokenProvider {
    package func forget() async {}
    package func validate(account: DID) async throws(TokenError) {}
    package var poolRemaining: Int? { get async { nil } }
}

/// `auth.kind: none`: every request goes without a token.
package struct AnonymousTokenProvider: TokenProvider {
    package init() {}

    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        nil
    }

    package func refuse(_ token: AccessToken) async {}

    package var expiry: Timestamp? { get async { nil } }
}
