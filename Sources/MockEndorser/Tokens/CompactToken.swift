import Foundation

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
