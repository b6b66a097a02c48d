import Crypto
import StarwatchCore

/// A signing key that is ready to use.
struct Signer: Sendable {
    private enum Key {
        case secret(SymmetricKey)
        case privateKey(Secp256k1PrivateKey)
    }

    let kid: String
    let endsAt: Timestamp?
    private let key: Key

    /// `nil` if the secret is none of its algorithm.
    init?(_ key: SigningKey) {
        kid = key.kid
        endsAt = key.endsAt
        switch key.algorithm {
        case .hs256: self.key = .secret(SymmetricKey(data: key.secret))
        case .es256k:
            guard let key = Secp256k1PrivateKey(key.secret) else { return nil }
            self.key = .privateKey(key)
        }
    }

    /// The token with these claims and the key's name in its header.
    func sign(_ claims: TokenClaims) -> String? {
        switch key {
        case .secret(let secret): CompactJWT.sign(claims, secret: secret, kid: kid)
        case .privateKey(let key): CompactJWT.sign(claims, key: key, kid: kid)
        }
    }
}
