internal import Crypto
internal import FoundationEssentials
package import StarwatchCore

/// The compact form of a signed token (RFC 7515): base 64 of header, payload and signature, separated by dots.
enum CompactJWT {
    /// An HS256 token, signed with the shared secret.
    ///
    /// - Parameter kid: The name of the secret for the header, which needs no escape in JSON; `nil` for none.
    static func sign(_ claims: TokenClaims, secret: SymmetricKey, kid: String? = nil) -> String {
        let input = signingInput(.hs256, kid, claims)
        let code = HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: secret)
        return input + "." + Base64.encodeURL(Array(code))
    }

    /// An ES256K token, signed with a secp256k1 key (RFC 8812); `nil` when libsecp256k1 rejects the key, which no
    /// valid key causes.
    static func sign(_ claims: TokenClaims, key: Secp256k1PrivateKey, kid: String? = nil) -> String? {
        let input = signingInput(.es256k, kid, claims)
        return key.sign(digest(of: input)).map { input + "." + Base64.encodeURL($0) }
    }

    static func digest(of signingInput: String) -> [UInt8] {
        Array(SHA256.hash(data: Array(signingInput.utf8)))
    }

    private static func signingInput(_ algorithm: SigningAlgorithm, _ kid: String?, _ claims: TokenClaims) -> String {
        let name = kid.map { #""kid":"\#($0)","# } ?? ""
        let header = #"{"alg":"\#(algorithm.rawValue)",\#(name)"typ":"JWT"}"#
        return Base64.encodeURL(Array(header.utf8)) + "." + Base64.encodeURL(claims.json)
    }

    /// The claims that the agent reads.
    struct Payload: Decodable {
        var iss: String?
        var exp: Double?
    }

    /// The name of the key in a token's header; `nil` if there is none.
    static func kid(of text: String) -> String? {
        struct Header: Decodable { var kid: String? }
        guard let header = Base64.decodeURL(text.prefix { $0 != "." }) else { return nil }
        return try? JSONDecoder().decode(Header.self, from: Data(header)).kid
    }

    /// The claims of a token minted elsewhere, unverified. The header is ignored, because passkey tokens have a header
    /// of their own; `nil` when the token is not a JWT.
    static func peek(_ text: String) -> Payload? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.decodeURL(parts[1]) else { return nil }
        return try? JSONDecoder().decode(Payload.self, from: Data(payload))
    }
}

extension Timestamp {
    /// The time of a claim (`NumericDate`: seconds, possibly with a fraction); `nil` when out of range.
    init?(numericDate seconds: Double?) {
        guard let seconds, seconds.magnitude < 1e14 else { return nil }
        self.init(milliseconds: Int64(seconds * 1000))
    }
}

/// The claims of a token, in the form that each dialect's server requires.
package struct TokenClaims: Sendable, Hashable {
    /// The audience of canonical tokens.
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
            return Array(#"{"exp":\#(expiresAt.wholeSeconds),"iat":\#(issuedAt.wholeSeconds),"iss":\#(issuer)}"#.utf8)
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
