import CSecp256k1
import Crypto
import Foundation

/// Creates clients' tokens with test keys.
enum TokenMaker {
    /// The DID of did-jwt's fixture key.
    static let did = "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"
    /// A token signed with that key, issued at 1767225600 and valid until 1767225660.
    static let fixture = """
        eyJhbGciOiJFUzI1NksiLCJ0eXAiOiJKV1QifQ.\
        eyJleHAiOjE3NjcyMjU2NjAsImlhdCI6MTc2NzIyNTYwMCwiaXNzIjoiZGlkOmV0aHI6MHhGM2JlQUMz\
        MEM0OThEOUUyNjg2NUYzNGZDQWE1N2RCQjkzNWIwRDc0In0.\
        Zk2VHRlQPtc8bGomc47ASKs2_Dz13vdApprDKJwz6P8F6xLiq-k0LMfSyRHgxdF30wSS0Xq5Tl9cvFWVtdh49A
        """
    static let secret = Array("correct horse battery staple".utf8)

    private static let key: [UInt8] = stride(from: 0, to: 64, by: 2).map { index in
        let hex = Array("278a5de700e29faae8e40e366ec5012b5ec63d36ec77e8a2417154cc1d25383f")
        return UInt8(String(hex[index...(index + 1)]), radix: 16)!
    }

    /// The claims of the canonical dialect, valid at 1767225630.
    static func canonicalClaims(_ changes: [String: Any?] = [:]) -> [String: Any] {
        var claims: [String: Any] = [
            "iss": did, "sub": did, "aud": "endorser-api", "iat": 1_767_225_600, "exp": 1_767_229_200,
            "scope": "notifications", "jti": "token-1",
        ]
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    static func hs256(_ claims: [String: Any], secret: [UInt8] = secret) throws -> String {
        let input = try signingInput("HS256", claims)
        let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: SymmetricKey(data: secret))
        return "\(input).\(base64URL(Data(code)))"
    }

    static func es256k(_ claims: [String: Any]) throws -> String {
        let input = try signingInput("ES256K", claims)
        let digest = Array(SHA256.hash(data: Data(input.utf8)))
        let context = secp256k1_context_create(UInt32(SECP256K1_FLAGS_TYPE_CONTEXT))!
        defer { secp256k1_context_destroy(context) }
        var signature = secp256k1_ecdsa_signature()
        var output = [UInt8](repeating: 0, count: 64)
        guard secp256k1_ecdsa_sign(context, &signature, digest, key, nil, nil) == 1 else { return "" }
        secp256k1_ecdsa_signature_serialize_compact(context, &output, &signature)
        return "\(input).\(base64URL(Data(output)))"
    }

    private static func signingInput(_ algorithm: String, _ claims: [String: Any]) throws -> String {
        let header = try JSONSerialization.data(
            withJSONObject: ["alg": algorithm, "typ": "JWT"],
            options: [.sortedKeys]
        )
        let payload = try JSONSerialization.data(withJSONObject: claims, options: [.sortedKeys])
        return "\(base64URL(header)).\(base64URL(payload))"
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
