import Crypto
import StarwatchCore

/// The keys of an account, and which of them signs.
struct SigningRing {
    let account: DID
    /// The value of ``SigningKeySource/generation`` before the keys were read.
    let generation: UInt64
    /// The newest first.
    private var signers: [Signer]
    /// The signer in use.
    private var index = 0
    /// The time at which the newest key is tried again; `nil` while it signs.
    private var retryAt: Timestamp?

    init(account: DID, generation: UInt64, signers: [Signer]) {
        (self.account, self.generation, self.signers) = (account, generation, signers)
    }

    /// The key to sign with; `nil` without an active key.
    var current: Signer? { signers.first?.endsAt == nil && index < signers.count ? signers[index] : nil }

    /// Drops keys whose grace is over, and returns to the newest key when it is time to try it again.
    mutating func advance(to now: Timestamp) {
        let kid = current?.kid
        signers.removeAll { signer in signer.endsAt.map { $0 <= now } ?? false }
        index = signers.firstIndex { $0.kid == kid } ?? 0
        guard index > 0, let retryAt else { return }
        // A clock that went back does not prolong the wait.
        guard now >= retryAt || retryAt - now > StoredKeyTokenProvider.retryInterval else { return }
        (index, self.retryAt) = (0, nil)
    }

    /// Notes that the server refused a token of a key. The next key signs, after the last one the newest.
    ///
    /// - Returns: Whether another key signs now.
    mutating func refuse(_ kid: String, at now: Timestamp) -> Bool {
        guard signers.count > 1, current?.kid == kid else { return false }
        index = (index + 1) % signers.count
        if retryAt == nil { retryAt = now + StoredKeyTokenProvider.retryInterval }
        if index == 0 { retryAt = nil }
        return true
    }
}

/// A signing key that is ready to use.
struct Signer: Sendable {
    let kid: String?
    let endsAt: Timestamp?
    /// The token with these claims and the key's name in its header.
    let sign: @Sendable (TokenClaims) -> String?

    /// `nil` if the secret is none of its algorithm.
    init?(_ algorithm: SigningAlgorithm, _ secret: [UInt8], kid: String? = nil, endsAt: Timestamp? = nil) {
        (self.kid, self.endsAt) = (kid, endsAt)
        switch algorithm {
        case .hs256:
            let secret = SymmetricKey(data: secret)
            sign = { CompactJWT.sign($0, secret: secret, kid: kid) }
        case .es256k:
            guard let key = Secp256k1PrivateKey(secret) else { return nil }
            sign = { CompactJWT.sign($0, key: key, kid: kid) }
        }
    }
}
