import Crypto
import Foundation

/// The identity of a requester according to its token.
struct Requester: Sendable, Equatable {
    /// The verified issuer; `nil` for an anonymous request.
    var did: String?
    var tokenID: String?

    static let anonymous = Requester(did: nil, tokenID: nil)
}

/// Verifies tokens by the rules of the two servers.
struct TokenVerifier: Sendable {
    /// Tolerated clock difference in the canonical dialect, in seconds.
    private static let canonicalTolerance = 30.0
    /// Greatest age of a token in the canonical dialect, in seconds.
    private static let canonicalAge = 3600.0
    /// Tolerated clock difference of did-jwt, whose default the real server uses, in seconds.
    private static let endorserTolerance = 300.0

    private let auth: MockAuth
    private var parsed: [String: CompactToken] = [:]
    private var signed: [String: Result<Void, TokenFailure>] = [:]

    init(auth: MockAuth) { self.auth = auth }

    /// Verifies the claims of the canonical dialect.
    ///
    /// - Parameters:
    ///   - token: The bearer token; `nil` if there was none.
    ///   - now: The server's time, in Unix seconds.
    mutating func verifyCanonical(_ token: String?, now: Double) throws(TokenFailure) -> Requester {
        if case .none = auth { return unverified(token) }
        guard let token else { throw .missing }
        guard let compact = parse(token) else { throw .malformed }
        try checkSignature(token, compact)
        let claims = compact.claims
        guard let issuer = claims.issuer, issuer.hasPrefix("did:") else { throw .claim("iss") }
        if let subject = claims.subject, subject != issuer { throw .claim("sub") }
        guard claims.audience == "endorser-api" else { throw .wrongAudience }
        guard let expiry = claims.expiresAt else { throw .claim("exp") }
        guard let issued = claims.issuedAt else { throw .claim("iat") }
        guard let tokenID = claims.tokenID, !tokenID.isEmpty else { throw .claim("jti") }
        if expiry + Self.canonicalTolerance <= now { throw .expired(at: Int(expiry)) }
        if issued - Self.canonicalTolerance > now { throw .issuedInFuture(at: Int(issued)) }
        if now - issued > Self.canonicalAge + Self.canonicalTolerance { throw .tooOld }
        guard let scope = claims.scope, scope.split(separator: " ").contains("notifications") else {
            throw .scope(claims.scope ?? "")
        }
        return Requester(did: issuer, tokenID: tokenID)
    }

    /// Verifies a token by the rules of the real server: a request without a token is anonymous, `aud` is an error.
    mutating func verifyEndorser(_ token: String?, now: Double) throws(TokenFailure) -> Requester {
        guard let token else { return .anonymous }
        if case .none = auth { return unverified(token) }
        guard let compact = parse(token) else { throw .malformed }
        let claims = compact.claims
        guard let issuer = claims.issuer else { throw .claim("iss") }
        guard issuer.hasPrefix("did:ethr:") else { throw .unsupportedMethod }
        guard compact.algorithm.hasPrefix("ES256K") else { throw .unsupportedAlgorithm(compact.algorithm) }
        try checkSignature(token, compact)
        let tolerance = Self.endorserTolerance
        if let start = claims.notBefore {
            if start > now + tolerance { throw .notYetValid(at: Int(start)) }
        } else if let issued = claims.issuedAt, issued > now + tolerance {
            throw .issuedInFuture(at: Int(issued))
        }
        if let expiry = claims.expiresAt, expiry <= now - tolerance { throw .expired(at: Int(expiry)) }
        if let audience = claims.audience, !audience.isEmpty { throw .wrongAudience }
        return Requester(did: issuer, tokenID: claims.tokenID)
    }

    private mutating func unverified(_ token: String?) -> Requester {
        guard let token, let claims = parse(token)?.claims else { return .anonymous }
        return Requester(did: claims.issuer, tokenID: claims.tokenID)
    }

    private mutating func parse(_ token: String) -> CompactToken? {
        if let known = parsed[token] { return known }
        let compact = CompactToken(token)
        if parsed.count > 256 { parsed.removeAll() }
        parsed[token] = compact
        return compact
    }

    private mutating func checkSignature(_ token: String, _ compact: CompactToken) throws(TokenFailure) {
        if let known = signed[token] { return try known.get() }
        let result = Result { () throws(TokenFailure) in try signatureCheck(compact) }
        if signed.count > 256 { signed.removeAll() }
        signed[token] = result
        try result.get()
    }

    private func signatureCheck(_ compact: CompactToken) throws(TokenFailure) {
        let input = Array(compact.signingInput.utf8)
        switch (auth, compact.algorithm) {
        case (.sharedSecret(let secret), "HS256"):
            guard
                HMAC<SHA256>.isValidAuthenticationCode(
                    compact.signature,
                    authenticating: input,
                    using: SymmetricKey(data: secret)
                )
            else { throw .wrongSignature }
        case (.didKey, "ES256K"), (.didKey, "ES256K-R"):
            let issuer = compact.claims.issuer ?? ""
            guard issuer.hasPrefix("did:ethr:0x"), issuer.utf8.count == 51 else { throw .unsupportedMethod }
            let address = issuer.dropFirst("did:ethr:".count).lowercased()
            let length = compact.algorithm == "ES256K" ? 64 : 65
            guard compact.signature.count == length,
                EthereumAddress.candidates(signature: compact.signature, digest: Array(SHA256.hash(data: input)))
                    .contains(address)
            else { throw .wrongSignature }
        default: throw .unsupportedAlgorithm(compact.algorithm)
        }
    }
}

/// A parsed JWT, not verified.
struct CompactToken: Sendable {
    /// The claims that the dialects check.
    struct Claims: Sendable {
        var issuer: String?
        var subject: String?
        /// The audience, several values joined by spaces; `nil` if absent.
        var audience: String?
        var expiresAt: Double?
        var issuedAt: Double?
        var notBefore: Double?
        var scope: String?
        var tokenID: String?
    }

    let algorithm: String
    let claims: Claims
    /// The signed text: `base64url(header).base64url(payload)`.
    let signingInput: String
    let signature: [UInt8]

    /// Parses a token; `nil` unless `text` is three parts of base64url with JSON objects in the first two.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let payload = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { return nil }
        algorithm = header["alg"] as? String ?? "none"
        signingInput = "\(parts[0]).\(parts[1])"
        self.signature = signature
        claims = Claims(
            issuer: payload["iss"] as? String,
            subject: payload["sub"] as? String,
            audience: payload["aud"] as? String ?? (payload["aud"] as? [String])?.joined(separator: " "),
            expiresAt: (payload["exp"] as? NSNumber)?.doubleValue,
            issuedAt: (payload["iat"] as? NSNumber)?.doubleValue,
            notBefore: (payload["nbf"] as? NSNumber)?.doubleValue,
            scope: payload["scope"] as? String,
            tokenID: payload["jti"] as? String
        )
    }

    private static func object(_ part: Substring) -> [String: Any]? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    }
}

/// Base64 with the URL-safe alphabet and without padding (RFC 7515 §2).
enum Base64URL {
    /// Decodes a text; `nil` if it is not base64url.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        standard += String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: standard).map { Array($0) }
    }
}

/// The reason for rejecting a token.
enum TokenFailure: Error, Sendable, Equatable {
    case missing
    case malformed
    case unsupportedAlgorithm(String)
    case unsupportedMethod
    case wrongSignature
    case expired(at: Int)
    case issuedInFuture(at: Int)
    case notYetValid(at: Int)
    case wrongAudience
    /// A required claim is missing or invalid.
    case claim(String)
    case tooOld
    /// The scope lacks `notifications`; the value is the token's scope.
    case scope(String)
    /// The token was already used for a single-use operation.
    case replayed
}
