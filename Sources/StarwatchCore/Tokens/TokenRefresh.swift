/// Decides when a token is replaced and which token of a pool is used.
public enum TokenRefresh {
    /// Whether to refresh the token: at most `min(refreshBefore, lifetime / 2)` of its lifetime is left.
    ///
    /// The half prevents a refresh of a short-lived token at every request.
    ///
    /// - Parameters:
    ///   - now: The server's time.
    ///   - lifetime: The time from issue to expiry.
    public static func isDue(expiresAt: Timestamp, now: Timestamp, lifetime: Duration, refreshBefore: Duration) -> Bool
    {
        expiresAt - now <= min(refreshBefore, lifetime / 2)
    }

    /// The pool's valid token that expires first.
    ///
    /// - Parameters:
    ///   - expiresAt: Returns a token's expiry; `nil` for a token without one, which is used last.
    ///   - margin: The required remaining lifetime.
    /// - Returns: `nil` if no token is valid.
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
