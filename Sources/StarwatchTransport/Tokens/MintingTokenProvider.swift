import StarwatchCore
import Synchronization

/// A provider that obtains a new token on demand and keeps it for later polls.
protocol MintingTokenProvider: TokenProvider, Actor {
    var minted: MintedToken { get set }

    /// Drops the kept token if it must not be used any more, such as after a change of its secret.
    ///
    /// - Throws: ``TokenError`` when the provider cannot serve the account.
    func prepare(for account: DID, serverTime: Timestamp) async throws(TokenError)

    /// Obtains a new token.
    ///
    /// - Throws: ``TokenError`` when the token cannot be signed, or the command fails.
    func mint(for account: DID, dialect: Dialect, serverTime: Timestamp) async throws(TokenError) -> AccessToken
}

extension MintingTokenProvider {
    func prepare(for account: DID, serverTime: Timestamp) async throws(TokenError) {
        // A changed secret file invalidates the kept token.
        try await validate(account: account)
    }

    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        try await prepare(for: account, serverTime: serverTime)
        if purpose == .poll, let token = minted.usable(for: account, dialect: dialect, now: serverTime) {
            return token
        }
        let token = try await mint(for: account, dialect: dialect, serverTime: serverTime)
        if purpose == .poll { minted.keep(token, for: account, dialect: dialect, now: serverTime) }
        return token
    }

    package func refuse(_ token: AccessToken, for purpose: TokenPurpose) async { minted.drop(token) }

    package func forget() async { minted.drop() }

    package var expiry: Timestamp? { get async { minted.expiry } }
}

/// The settings of minted tokens.
package struct TokenTerms: Sendable {
    /// Lifetime of a new token, from `iat` to `exp`; for a command, of a token that states no expiry.
    let lifetime: Duration
    /// Time before its expiry at which a token is replaced, at most half of ``lifetime``.
    let refreshBefore: Duration
    /// The scope of canonical tokens.
    let scope: String
    /// Returns a new `jti` on each call. Only canonical tokens carry it.
    let makeID: @Sendable () -> String
    fileprivate let expiry = TokenExpiry()

    package init(
        lifetime: Duration = .seconds(3600),
        refreshBefore: Duration = .seconds(600),
        scope: String = TokenScope.standard,
        makeID: @escaping @Sendable () -> String = { RandomID.uuid() }
    ) {
        (self.lifetime, self.refreshBefore, self.scope, self.makeID) = (lifetime, refreshBefore, scope, makeID)
    }
}

/// The expiry of the token that was kept last, by any of the providers with the same terms; `nil` if that was dropped.
private final class TokenExpiry: Sendable { let last = Mutex<Timestamp?>(nil) }

/// The token that a minting provider keeps for polls.
struct MintedToken {
    let terms: TokenTerms
    /// With the server's time when the token was minted, as far as it was known then, and the time from minting to expiry.
    private var entry: (token: AccessToken, account: DID, dialect: Dialect, mintedAt: Timestamp, lifetime: Duration)?

    init(_ terms: TokenTerms) { self.terms = terms }

    /// The claims of a new token.
    func claims(for account: DID, dialect: Dialect, now: Timestamp) -> TokenClaims {
        TokenClaims(
            account: account,
            dialect: dialect,
            issuedAt: now,
            lifetime: terms.lifetime,
            tokenID: terms.makeID(),
            scope: terms.scope
        )
    }

    var expiry: Timestamp? { terms.expiry.last.withLock(\.self) }

    /// The kept token; `nil` when it is due for replacement, belongs to another account or dialect, or was minted by a
    /// clock that was too far ahead for the server.
    func usable(for account: DID, dialect: Dialect, now: Timestamp) -> AccessToken? {
        guard let entry, entry.account == account, entry.dialect == dialect,
            entry.mintedAt <= now + dialect.clockTolerance, let expiry = entry.token.expiresAt,
            // Half, so that a short-lived token is not replaced at every request.
            expiry - now > min(terms.refreshBefore, entry.lifetime / 2)
        else { return nil }
        return entry.token
    }

    /// Keeps `token`, minted at `now`. A token without an expiry is not kept, because its replacement has no due time.
    mutating func keep(_ token: AccessToken, for account: DID, dialect: Dialect, now: Timestamp) {
        guard let expiry = token.expiresAt else { return }
        entry = (token, account, dialect, now, expiry - now)
        terms.expiry.last.withLock { $0 = expiry }
    }

    mutating func drop() {
        guard let expiry = entry.take()?.token.expiresAt else { return }
        // Another provider can have kept a token since.
        terms.expiry.last.withLock { if $0 == expiry { $0 = nil } }
    }

    mutating func drop(_ token: AccessToken) { if entry?.token.rawValue == token.rawValue { drop() } }
}
