package import StarwatchCore

/// The use of a token.
package enum TokenPurpose: String, Sendable, CaseIterable {
    /// A poll; one token can serve many polls.
    case poll
    /// An acknowledgement; each attempt uses a token of its own.
    case acknowledge
}

/// A source of bearer tokens.
///
/// A token belongs to one account and is never handed out for another.
package protocol TokenProvider: Sendable {
    /// Returns a token for `account`; `nil` when requests need no token.
    ///
    /// - Parameter serverTime: The current time by the server's clock, which the server compares with `iat` and `exp`.
    /// - Throws: ``TokenError`` when no valid token is available.
    func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken?

    /// Whether requests never carry a token.
    var isAnonymous: Bool { get }

    /// Whether tokens are made when they are asked for, by the given time.
    var areMinted: Bool { get }

    /// Reports that the server rejected `token`. It is not handed out again for `purpose`; the next call returns another
    /// token.
    func refuse(_ token: AccessToken, for purpose: TokenPurpose) async

    /// Drops all minted and fetched tokens, after a change of identity.
    func forget() async

    /// Checks, without obtaining a token, that this provider can serve `account`. Called at start.
    func validate(account: DID) async throws(TokenError)

    /// Expiry of the token in use; `nil` when there is no token, or it states no expiry.
    var expiry: Timestamp? { get async }

    /// Number of usable tokens in a pool at the last request; `nil` when the provider has no pool.
    var poolRemaining: Int? { get async }
}

extension TokenProvider {
    package var isAnonymous: Bool { false }
    package var areMinted: Bool { true }
    package func forget() async {}
    package func validate(account: DID) async throws(TokenError) {}
    package var poolRemaining: Int? { get async { nil } }
}

/// `auth.kind: none`: requests carry no token.
package struct AnonymousTokenProvider: TokenProvider {
    package init() {}

    package var isAnonymous: Bool { true }

    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        nil
    }

    package func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {}

    package var expiry: Timestamp? { get async { nil } }
}

/// A bearer token. Prints as `<token>`; only ``rawValue`` holds the text.
package struct AccessToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let rawValue: String
    /// Expiry in server time; `nil` when the token does not state one.
    package let expiresAt: Timestamp?

    package init(rawValue: String, expiresAt: Timestamp?) {
        self.rawValue = rawValue
        self.expiresAt = expiresAt
    }

    package var description: String { "<token>" }
    package var debugDescription: String { "<token>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
