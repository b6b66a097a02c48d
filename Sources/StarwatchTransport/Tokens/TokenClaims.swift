package import StarwatchCore

/// The claims of a token, as a server of each dialect wants them.
package struct TokenClaims: Sendable, Hashable {
    /// The audience of canonical tokens (R-REQ-05).
    package static let audience = "endorser-api"
    /// The scope of canonical tokens (R-REQ-05).
    package static let scope = "notifications"

    package var issuer: DID
    package var subject: DID?
    package var audience: String?
    package var scope: String?
    package var tokenID: String?
    package var issuedAt: Timestamp
    package var expiresAt: Timestamp

    /// The claims for `account` in `dialect`. The endorser server refuses every token that has an `aud`.
    package init(account: DID, dialect: Dialect, issuedAt: Timestamp, lifetime: Duration, tokenID: String) {
        issuer = account
        self.issuedAt = Timestamp(seconds: issuedAt.wholeSeconds)
        expiresAt = Timestamp(seconds: (issuedAt + lifetime).wholeSeconds)
        if dialect == .canonical {
            subject = account
            audience = Self.audience
            scope = Self.scope
            self.tokenID = tokenID
        }
    }

    /// The claims as JSON, always in the same order.
    ///
    /// The three of the endorser dialect have the order of did-jwt, so that its published vectors can be compared.
    var json: [UInt8] {
        let issuer = Self.quote(self.issuer.rawValue)
        guard let subject, let audience, let scope, let tokenID else {
            return Array(
                #"{"exp":\#(expiresAt.wholeSeconds),"iat":\#(issuedAt.wholeSeconds),"iss":\#(issuer)}"#.utf8
            )
        }
        let fields = [
            #""iss":"# + issuer, #""sub":"# + Self.quote(subject.rawValue), #""aud":"# + Self.quote(audience),
            #""exp":\#(expiresAt.wholeSeconds)"#, #""iat":\#(issuedAt.wholeSeconds)"#,
            #""scope":"# + Self.quote(scope), #""jti":"# + Self.quote(tokenID),
        ]
        return Array(("{" + fields.joined(separator: ",") + "}").utf8)
    }

    private static func quote(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { output.unicodeScalars.append("\\") }
            output.unicodeScalars.append(scalar)
        }
        return output + "\""
    }
}
