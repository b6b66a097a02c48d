internal import Crypto
internal import FoundationEssentials
import StarwatchCore

/// The compact form of a signed token: header, payload and signature in base 64, separated by dots (RFC 7515).
enum CompactJWT {
    /// `{"alg":"HS256","typ":"JWT"}`, signed with the shared secret.
    static func sign(_ claims: TokenClaims, secret: SymmetricKey) -> String {
        let input = signingInput(#"{"alg":"HS256","typ":"JWT"}"#, claims)
        let code = HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: secret)
        return input + "." + Base64.encodeURL(Array(code))
    }

    /// As above, with the bytes of the secret.
    static func sign(_ claims: TokenClaims, secret: [UInt8]) -> String {
        sign(claims, secret: SymmetricKey(data: secret))
    }

    /// `{"alg":"ES256K","typ":"JWT"}`, signed with a key of secp256k1 (RFC 8812). `nil` cannot happen with a valid key.
    static func sign(_ claims: TokenClaims, key: Secp256k1PrivateKey) -> String? {
        let input = signingInput(#"{"alg":"ES256K","typ":"JWT"}"#, claims)
        return key.sign(digest(of: input)).map { input + "." + Base64.encodeURL($0) }
    }

    static func digest(of signingInput: String) -> [UInt8] {
        Array(SHA256.hash(data: Array(signingInput.utf8)))
    }

    private static func signingInput(_ header: String, _ claims: TokenClaims) -> String {
        Base64.encodeURL(Array(header.utf8)) + "." + Base64.encodeURL(claims.json)
    }

    /// A token taken apart; nothing in it is verified.
    struct Parsed {
        var algorithm: String
        var payload: Payload
        var signingInput: String
        var signature: [UInt8]
    }

    struct Payload: Decodable {
        var iss: String?
        var sub: String?
        var aud: Audience?
        var exp: Double?
        var iat: Double?
        var scope: String?
        var jti: String?
    }

    /// `aud` is a text or a list of texts (RFC 7519, 4.1.3).
    struct Audience: Decodable {
        var values: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                values = [one]
            } else {
                values = try container.decode([String].self)
            }
        }
    }

    private struct Header: Decodable {
        var alg: String
    }

    /// Takes `text` apart; `nil` when it is not three parts of base 64 with JSON objects in the first two.
    static func parse(_ text: String) -> Parsed? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decodeURL(parts[0]), let payload = Base64.decodeURL(parts[1]),
            let signature = Base64.decodeURL(parts[2]),
            let head = try? JSONDecoder().decode(Header.self, from: Data(header)),
            let claims = try? JSONDecoder().decode(Payload.self, from: Data(payload))
        else { return nil }
        return Parsed(
            algorithm: head.alg,
            payload: claims,
            signingInput: parts[0] + "." + parts[1],
            signature: signature
        )
    }

    /// The expiry and issuer a token claims, for choosing among tokens others minted. The header is not looked at,
    /// because passkey tokens have one of their own.
    static func peek(_ text: String) -> Payload? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.decodeURL(parts[1]) else { return nil }
        return try? JSONDecoder().decode(Payload.self, from: Data(payload))
    }
}

extension Timestamp {
    /// A time of a claim (`NumericDate`: seconds, possibly with a fraction); `nil` for what no clock shows.
    init?(numericDate seconds: Double?) {
        guard let seconds, seconds.magnitude < 1e14 else { return nil }
        self.init(milliseconds: Int64(seconds * 1000))
    }
}
