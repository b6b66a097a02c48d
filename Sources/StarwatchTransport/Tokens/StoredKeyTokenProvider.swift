internal import Crypto
package import StarwatchCore

/// `auth.stored_keys`: mints tokens with signing keys that are not in a file.
///
/// It signs with the newest key. If the server refuses that one, it signs with a former key that is in its grace, and
/// tries the newest again after ``retryInterval``. A rotation therefore needs no common time with the server.
package actor StoredKeyTokenProvider: MintingTokenProvider {
    /// The time for which the newest key is not tried after the server refused it.
    package static let retryInterval = Duration.seconds(600)

    private let algorithm: SigningAlgorithm
    private let source: any SigningKeySource
    private var ring: SigningRing?
    var minted: MintedToken
    /// The server's time at the last request.
    private var lastTime = Timestamp(milliseconds: 0)

    /// - Parameter algorithm: Keys of another algorithm are not used.
    package init(algorithm: SigningAlgorithm, source: any SigningKeySource, terms: TokenTerms = TokenTerms()) {
        (self.algorithm, self.source, minted) = (algorithm, source, MintedToken(terms))
    }

    func prepare(for account: DID, serverTime: Timestamp) async throws(TokenError) {
        try await load(account)
        lastTime = serverTime
        let former = ring?.current?.kid
        ring?.advance(to: serverTime)
        guard let signer = ring?.current else { throw .noSigningKey }
        if signer.kid != former { minted.drop() }
    }

    func mint(for account: DID, dialect: Dialect, serverTime: Timestamp) async throws(TokenError) -> AccessToken {
        let claims = minted.claims(for: account, dialect: dialect, now: serverTime)
        guard let text = ring?.current?.sign(claims) else { throw .noSigningKey }
        return AccessToken(rawValue: text, expiresAt: claims.expiresAt)
    }

    package func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {
        minted.drop(token)
        guard let kid = CompactJWT.kid(of: token.rawValue), ring?.refuse(kid, at: lastTime) == true else { return }
        // The kept token can be another one of the refused key.
        minted.drop()
    }

    package func forget() async {
        minted.drop()
        ring = nil
    }

    /// Accepts an account without a key, which can be imported later.
    package func validate(account: DID) async throws(TokenError) { try await load(account) }

    /// Gets the keys, unless they are known.
    private func load(_ account: DID) async throws(TokenError) {
        // Before the keys are read, so that a change meanwhile is noticed at the next call.
        let generation = source.generation
        if let ring, ring.account == account, ring.generation == generation { return }
        // Nothing is signed with the former keys, also if the new ones cannot be read.
        ring = nil
        minted.drop()
        let keys = try await source.keys(of: account).filter { $0.algorithm == algorithm }
        let signers = keys.compactMap { Signer($0.algorithm, $0.secret, kid: $0.kid, endsAt: $0.endsAt) }
        ring = SigningRing(account: account, generation: generation, signers: signers)
    }
}

package protocol SigningKeySource: Sendable {
    /// A counter of changes. As long as it stays, the keys of an account stay.
    var generation: UInt64 { get }

    /// The keys that can sign for an account, the newest first.
    ///
    /// - Throws: ``TokenError/signingKeysUnreadable``.
    func keys(of account: DID) async throws(TokenError) -> [SigningKey]
}
