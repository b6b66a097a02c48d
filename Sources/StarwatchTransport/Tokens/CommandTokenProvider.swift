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
    ///   - runCommand: Runs a program to its end and returns its output. Throws when the program fails.
    package init(
        argv: [String],
        terms: TokenTerms = TokenTerms(),
        runCommand: @escaping @Sendable ([String]) async throws -> String
    ) {
        (self.argv, self.runCommand, minted) = (argv, runCommand, MintedToken(terms))
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
        return AccessToken(rawValue: text, expiresAt: claimed ?? serverTime + minted.terms.lifetime)
    }
}
