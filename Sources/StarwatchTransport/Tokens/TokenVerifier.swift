internal import Crypto
package import StarwatchCore

/// Checks a token like a server (R-REQ-09): signature, `iss`, `aud`, `exp`, `iat`, `scope` and `jti`.
///
/// A value that remembers the `jti` identifiers it has seen. The time is an argument.
package struct TokenVerifier: Sendable {
    /// The accepted signers.
    package enum Key: Sendable {
        /// HS256 with any of these secrets: old and new during a rotation.
        case sharedSecrets([[UInt8]])
        /// ES256K with the key of the issuer's own `did:ethr`.
        case issuer
    }

    /// The required claims of a token.
    package struct Policy: Sendable {
        package var issuer: DID
        /// The required `aud`; `nil` rejects every token with an `aud`, like the endorser server.
        package var audience: String?
        /// A word that `scope` must contain; `nil` accepts any scope.
        package var scope: String?
        /// Tolerated clock difference, for expiry, issue time and age.
        package var tolerance: Duration = .seconds(30)
        /// Greatest time since `iat`.
        package var maxAge: Duration = .seconds(3600)
        /// Period in which a `jti` is remembered.
        package var replayWindow: Duration = .seconds(300)

        package init(
            issuer: DID,
            audience: String? = TokenClaims.audience,
            scope: String? = TokenClaims.scope
        ) {
            self.issuer = issuer
            self.audience = audience
            self.scope = scope
        }
    }

    /// The first defect found in a token.
    package enum Failure: String, Error, Sendable, CaseIterable {
        case malformed, algorithm, signature, issuer, audience, expired, future, age, scope, replay
    }

    private let key: Key
    private let policy: Policy
    private var seen: [String: Timestamp] = [:]

    package init(key: Key, policy: Policy) {
        self.key = key
        self.policy = policy
    }

    /// Checks `token` at `now`.
    ///
    /// - Parameter isSingleUse: Whether the operation accepts a token only once. The token then needs a `jti` that was
    ///   not seen within the replay window. Polls reuse their token.
    /// - Throws: ``Failure`` with the first defect.
    package mutating func verify(_ token: String, now: Timestamp, isSingleUse: Bool) throws(Failure) {
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
