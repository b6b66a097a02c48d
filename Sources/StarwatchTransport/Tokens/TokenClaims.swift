import StarwatchCore

/// The claims of a token, in the form that each dialect's server requires.
struct TokenClaims {
    var issuer: DID
    var subject: DID?
    var audience: String?
    var scope: String?
    var tokenID: String?
    var issuedAt: Timestamp
    var expiresAt: Timestamp

    /// Creates the claims for `account` in `dialect`. Times are cut to whole seconds.
    ///
    /// The endorser server rejects every token that has an `aud`, so only canonical tokens have one (R-REQ-05).
    init(account: DID, dialect: Dialect, issuedAt: Timestamp, lifetime: Duration, tokenID: String) {
        issuer = account
        self.issuedAt = Timestamp(seconds: issuedAt.wholeSeconds)
        expiresAt = Timestamp(seconds: (issuedAt + lifetime).wholeSeconds)
        if dialect == .canonical {
            subject = account
            audience = "endorser-api"
            scope = "notifications"
            self.tokenID = tokenID
        }
    }

    /// The claims as JSON, always in the same order.
    ///
    /// The endorser dialect's three claims have did-jwt's order, so that tests can compare its published vectors.
    var json: [UInt8] {
        let issuer = StableJSON.text(of: self.issuer.rawValue)
        guard let subject, let audience, let scope, let tokenID else {
            return Array(
                #"{"exp":\#(expiresAt.wholeSeconds),"iat":\#(issuedAt.wholeSeconds),"iss":\#(issuer)}"#.utf8
            )
        }
        let fields = [
            #""iss":"# + issuer, #""sub":"# + StableJSON.text(of: subject.rawValue),
            #""aud":"# + StableJSON.text(of: audience),
            #""exp":\#(expiresAt.wholeSeconds)"#, #""iat":\#(issuedAt.wholeSeconds)"#,
            #""scope":"# + StableJSON.text(of: scope), #""jti":"# + StableJSON.text(of: tokenID),
        ]
        return Array(("{" + fields.joined(separator: ",") + "}").utf8)
    }
}
