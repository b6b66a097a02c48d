import StarwatchCore

/// `auth.kind: command`: runs a program that prints a token.
///
/// Two concurrent calls can run the program twice; the later token is kept.
package actor CommandTokenProvider: MintingTokenProvider {
    private let argv: [String]
    private let runCommand: @Sendable ([String]) async throws -> String
    var minted: MintedToken

    /// - Parameters:
    ///   - argv: The program and its arguments; no shell is involved.
    ///   - lifetime: Lifetime of a token that states no expiry.
    ///   - refreshBefore: Time before expiry at which a token is replaced, at most half of `lifetime`.
    ///   - runCommand: Runs a program to its end and returns its output. Throws when the program fails.
    package init(
        argv: [String],
        lifetime: Duration = .seconds(3600),
        refreshBefore: Duration = .seconds(600),
        runCommand: @escaping @Sendable ([String]) async throws -> String
    ) {
        self.argv = argv
        self.runCommand = runCommand
        minted = MintedToken(lifetime: lifetime, refreshBefore: refreshBefore)
    }

    func mint(for account: DID, dialect: Dialect, serverTime: Timestamp) async throws(TokenError) -> AccessToken {
        let output: String
        do {
            output = try await runCommand(argv)
        } catch {
            throw .commandFailed
        }
        let text = output.trimmingSpaces
        guard text.isTokenText else { throw .commandOutput }
        let claims = CompactJWT.peek(text)
        // The command does not know the active account: after an identity change it can still print the former one's.
        guard claims?.iss.map(account.isIssuer) ?? true else { throw .commandOutput }
        let claimed = Timestamp(numericDate: claims?.exp)
        return AccessToken(rawValue: text, expiresAt: claimed ?? serverTime + minted.lifetime)
    }
}
