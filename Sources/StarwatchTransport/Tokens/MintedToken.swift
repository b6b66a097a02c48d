import StarwatchCore

/// The one token a minting provider keeps for polls.
struct MintedToken {
    private struct Entry {
        var token: AccessToken
        var account: DID
        var dialect: Dialect
        /// How long it lasts from when it was had.
        var lifetime: Duration
    }

    private var entry: Entry?

    var expiry: Timestamp? { entry?.token.expiresAt }

    /// The kept token, unless it is another account's, of another dialect, or due to be replaced.
    func usable(
        for account: DID,
        dialect: Dialect,
        now: Timestamp,
        refreshBefore: Duration
    ) -> AccessToken? {
        guard let entry, entry.account == account, entry.dialect == dialect, let expiry = entry.token.expiresAt,
            !TokenRefresh.isDue(
                expiresAt: expiry,
                now: now,
                lifetime: entry.lifetime,
                refreshBefore: refreshBefore
            )
        else { return nil }
        return entry.token
    }

    /// Keeps `token`, which was had at `now`; one that says no expiry is not kept.
    mutating func keep(_ token: AccessToken, for account: DID, dialect: Dialect, now: Timestamp) {
        guard let expiry = token.expiresAt else { return }
        entry = Entry(token: token, account: account, dialect: dialect, lifetime: expiry - now)
    }

    mutating func drop() {
        entry = nil
    }

    mutating func drop(_ token: AccessToken) {
        if entry?.token.rawValue == token.rawValue { entry = nil }
    }
}
