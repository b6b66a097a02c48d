/// When a token is replaced, and which of several is used.
public enum TokenRefresh {
    /// Whether a new token is to be had now: when no more than `min(refreshBefore, lifetime / 2)` is left of it.
    ///
    /// The half keeps a short-lived token from being renewed at every request.
    ///
    /// - Parameters:
    ///   - now: In the server's time.
    ///   - lifetime: From issue to expiry.
    public static func isDue(expiresAt: Timestamp, now: Timestamp, lifetime: Duration, refreshBefore: Duration) -> Bool
    {
        expiresAt - now <= min(refreshBefore, lifetime / 2)
    }

    /// The token of a pool to use: the soonest to expire that is still valid.
    ///
    /// - Parameters:
    ///   - expiresAt: A token's expiry; `nil` when it has none, which is used last.
    ///   - margin: How much must be left of it.
    /// - Returns: `nil` when none is valid.
    public static func soonestToExpire<Token>(
        of tokens: [Token],
        now: Timestamp,
        margin: Duration = .zero,
        expiresAt: (Token) -> Timestamp?
    ) -> Token? {
        var best: (token: Token, expiry: Int64)?
        for token in tokens {
            let expiry = expiresAt(token)
            if let expiry, expiry <= now + margin { continue }
            let key = expiry?.milliseconds ?? .max
            if best.map({ key < $0.expiry }) ?? true { best = (token, key) }
        }
        return best?.token
    }
}
