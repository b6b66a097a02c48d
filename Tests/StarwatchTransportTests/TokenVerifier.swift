import CSecp256k1
import Crypto
import Foundation
import StarwatchCore

@testable import StarwatchTransport

/// Checks a token like a server (R-REQ-09): signature, `iss`, `aud`, `exp`, `iat`, `scope` and `jti`.
///
/// A value that remembers the `jti` identifiers it has seen. The time is an argument.
struct TokenVerifier: Sendable {
    /// The accepted signers.
    enum Key: Sendable {
        /// HS256 with any of these secrets: old and new during a rotation.
        case sharedSecrets([[UInt8]])
        /// ES256K with the key of the issuer's own `did:ethr`.
        case issuer
    }

    /// The required claims of a token.
    struct Policy: Sendable {
        var issuer: DID
        /// The required `aud`; `nil` rejects every token with an `aud`, like the endorser server.
        var audience: String?
        /// A word that `scope` must contain; `nil` accepts any scope.
        var scope: String?
        /// Tolerated clock difference, for expiry, issue time and age.
        var tolerance: Duration = .seconds(30)
        /// Greatest time since `iat`.
        var maxAge: Duration = .seconds(3600)
        /// Period in which a `jti` is remembered.
        var replayWindow: Duration = .seconds(300)

        init(
            issuer: DID,
            audience: String? = TokenClaims.audience,
            scope: String? = TokenScope.standard
        ) {
            self.issuer = issuer
            self.audience = audience
            self.scope = scope
        }
    }

    /// The first defect found in a token.
    enum Failure: String, Error, Sendable, CaseIterable {
        case malformed, algorithm, signature, issuer, audience, expired, future, age, scope, replay
    }

    private let key: Key
    private let policy: Policy
    private var seen: [String: Timestamp] = [:]

    init(key: Key, policy: Policy) {
        self.key = key
        self.policy = policy
    }

    /// Checks `token` at `now`.
    ///
    /// - Parameter isSingleUse: Whether the operation accepts a token only once. The token then needs a `jti` that was
    ///   not seen within the replay window. Polls reuse their token.
    /// - Throws: ``Failure`` with the first defect.
    mutating func verify(_ token: String, now: Timestamp, isSingleUse: Bool) throws(Failure) {
        guard let parsed = CompactJWT.parse(token) else { throw .malformed }
        let claims = parsed.payload
        try verifySignature(parsed)
        guard claims.iss == policy.issuer.rawValue else { throw .issuer }
        if let audience = policy.audience {
            guard claims.aud?.values.contains(audience) == true else { throw .audience }
        } else {
            guard claims.aud == nil else { throw .audience }
        }
        guard let expiry = Timestamp(numericDate: claims.exp), let issued = Timestamp(numericDate: claims.iat) else {
            throw .malformed
        }
        guard now <= expiry + policy.tolerance else { throw .expired }
        guard issued <= now + policy.tolerance else { throw .future }
        guard now - issued <= policy.maxAge + policy.tolerance else { throw .age }
        if let scope = policy.scope {
            guard claims.scope?.split(separator: " ").contains(scope[...]) == true else { throw .scope }
        }
        guard isSingleUse else { return }
        seen = seen.filter { now - $0.value < policy.replayWindow }
        guard let id = claims.jti, !id.isEmpty, seen[id] == nil else { throw .replay }
        seen[id] = now
    }

    private func verifySignature(_ token: CompactJWT.Parsed) throws(Failure) {
        switch key {
        case .sharedSecrets(let secrets):
            guard token.algorithm == "HS256" else { throw .algorithm }
            let isRight = secrets.contains { secret in
                HMAC<SHA256>.isValidAuthenticationCode(
                    token.signature,
                    authenticating: Array(token.signingInput.utf8),
                    using: SymmetricKey(data: secret)
                )
            }
            guard isRight else { throw .signature }
        case .issuer:
            guard token.algorithm == "ES256K" else { throw .algorithm }
            let digest = CompactJWT.digest(of: token.signingInput)
            guard let address = EthereumAddress(policy.issuer),
                Secp256k1.recoverAddresses(signature: token.signature, digest: digest).contains(address)
            else { throw .signature }
        }
    }
}

extension CompactJWT {
    /// The parts of a token. None of them is verified.
    struct Parsed {
        var algorithm: String
        var payload: Claims
        var signingInput: String
        var signature: [UInt8]
    }

    /// The claims that a server reads.
    struct Claims: Decodable {
        var iss: String?
        var aud: Audience?
        var exp: Double?
        var iat: Double?
        var scope: String?
        var jti: String?
    }

    /// The `aud` claim: a string or a list of strings (RFC 7519, 4.1.3).
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

    /// Parses `text`; `nil` unless it is three parts of base 64 with JSON objects in the first two.
    static func parse(_ text: String) -> Parsed? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decodeURL(parts[0]), let payload = Base64.decodeURL(parts[1]),
            let signature = Base64.decodeURL(parts[2]),
            let head = try? JSONDecoder().decode(Header.self, from: Data(header)),
            let claims = try? JSONDecoder().decode(Claims.self, from: Data(payload))
        else { return nil }
        return Parsed(
            algorithm: head.alg,
            payload: claims,
            signingInput: parts[0] + "." + parts[1],
            signature: signature
        )
    }
}

extension Secp256k1 {
    /// The addresses whose keys could have made `signature` (64 bytes, r then s) over `digest` (32 bytes).
    ///
    /// There are at most two, because two points of the curve have the signature's r. The remaining two recovery
    /// identifiers need an r beyond the group order, which happens once in 2^127 signatures.
    static func recoverAddresses(signature: [UInt8], digest: [UInt8]) -> [EthereumAddress] {
        guard signature.count == 64, digest.count == 32 else { return [] }
        return (0..<2).compactMap { recoveryID in
            var parsed = secp256k1_ecdsa_recoverable_signature()
            var key = secp256k1_pubkey()
            guard
                secp256k1_ecdsa_recoverable_signature_parse_compact(context, &parsed, signature, Int32(recoveryID))
                    == 1,
                secp256k1_ecdsa_recover(context, &key, &parsed, digest) == 1
            else { return nil }
            return EthereumAddress(publicKey: serialize(&key))
        }
    }
}
