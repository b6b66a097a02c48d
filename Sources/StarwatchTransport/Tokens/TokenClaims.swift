package import StarwatchCore

/// The claims of a token, in the form that each dialect's server requires.
package struct TokenClaims: Sendable, Hashable {
    /// The audience of canonical tokens (R-REQ-05).
    package static let audience = "endorser-api"

    package var issuer: DID
    package var subject: DID?
    package var audience: String?
    package var scope: String?
    package var tokenID: String?
    package var issuedAt: Timestamp
    package var expiresAt: Timestamp

    /// Creates the claims for `account` in `dialect`. Times are cut to whole seconds.
    ///
    /// The endorser server rejects every token that has an `aud`, so only canonical tokens have one, and a scope.
    package init(
        account: DID,
        dialect: Dialect,
        issuedAt: Timestamp,
        lifetime: Duration,
        tokenID: String,
        scope: String = TokenScope.standard
    ) {
        issuer = account
        self.issuedAt = Timestamp(seconds: issuedAt.wholeSeconds)
        expiresAt = Timestamp(seconds: (issuedAt + lifetime).wholeSeconds)
        if dialect == .canonical {
            subject = account
            audience = Self.audience
            self.scope = scope
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
