internal import Crypto
package import StarwatchCore

/// Checks a token as a server does (R-REQ-09): signature, `iss`, `aud`, `exp`, `iat`, `scope` and `jti`.
///
/// A value: it holds the identifiers it has seen, and the time is an argument.
package struct TokenVerifier: Sendable {
    /// Who may have signed.
    package enum Key: Sendable {
        /// HS256 with any of these secrets: old and new, while one replaces the other.
        case sharedSecrets([[UInt8]])
        /// ES256K by the key of the issuer's own `did:ethr`.
        case issuer
    }

    /// What a token must say.
    package struct Policy: Sendable {
        package var issuer: DID
        /// `nil`: there must be no `aud` at all, as the endorser server has it.
        package var audience: String?
        /// One word that must be among those of `scope`; `nil`: not looked at.
        package var scope: String?
        /// How far two clocks may be apart; applies to all three times (C-118, C-119).
        package var tolerance: Duration = .seconds(30)
        package var maxAge: Duration = .seconds(3600)
        /// How long a `jti` is remembered.
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

    /// The first thing that is wrong with a token.
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
    /// - Parameter isSingleUse: Whether the operation takes a token once only: then it needs a `jti` that was not
    ///   shown within the replay window. Polls may show theirs again (C-120).
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
