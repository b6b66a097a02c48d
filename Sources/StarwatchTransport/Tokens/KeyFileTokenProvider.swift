package import StarwatchCore

/// `auth.kind: shared_secret` and `did_key`: mints tokens with the key in a file.
///
/// A shared secret can mint a token for any account: prefer a DID key where the server accepts one.
package actor KeyFileTokenProvider: MintingTokenProvider {
    private let algorithm: SigningAlgorithm
    private var file: SecretFile
    private var current: (account: DID, signer: Signer)?
    var minted: MintedToken

    /// - Parameter file: HS256: the bytes of the secret. ES256K: 64 hexadecimal digits, or PEM as SEC 1 or PKCS #8.
    package init(_ algorithm: SigningAlgorithm, file: SecretFile, terms: TokenTerms = TokenTerms()) {
        (self.algorithm, self.file, minted) = (algorithm, file, MintedToken(terms))
    }

    /// Rejects an account whose DID does not match the key: the server would only report that it found no key.
    package func validate(account: DID) async throws(TokenError) { _ = try signer(of: account) }

    func mint(for account: DID, dialect: Dialect, serverTime: Timestamp) async throws(TokenError) -> AccessToken {
        let signer = try signer(of: account)
        let claims = minted.claims(for: account, dialect: dialect, now: serverTime)
        guard let text = signer.sign(claims) else {
            throw .fileInvalid(setting: setting, advice: "its key cannot sign; replace the key")
        }
        return AccessToken(rawValue: text, expiresAt: claims.expiresAt)
    }

    private var setting: String { algorithm == .hs256 ? "auth.secret_file" : "auth.key_file" }

    private func signer(of account: DID) throws(TokenError) -> Signer {
        let changed = try file.readIfChanged()
        // A shared secret signs for any account.
        if changed == nil, let current, algorithm == .hs256 || current.account == account { return current.signer }
        current = nil
        minted.drop()
        let content = if let changed { changed } else { try file.read() }
        let secret = try SigningKeyContent.secret(in: content, algorithm, of: account, setting: setting)
        guard let signer = Signer(algorithm, secret) else {
            throw .fileInvalid(setting: setting, advice: PrivateKeyFile.Failure.unreadable.advice)
        }
        current = (account, signer)
        return signer
    }
}
