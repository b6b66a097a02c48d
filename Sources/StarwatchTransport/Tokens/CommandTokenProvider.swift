package import StarwatchCore

/// `auth.kind: command`: runs a program that prints a token.
///
/// Two calls at once may run it twice; the later answer is kept.
package actor CommandTokenProvider: TokenProvider {
    private let argv: [String]
    private let lifetime: Duration
    private let refreshBefore: Duration
    private let runCommand: @Sendable ([String]) async throws -> String
    private var kept = MintedToken()

    /// - Parameters:
    ///   - argv: The program and its arguments; no shell takes part.
    ///   - lifetime: How long a token lasts that does not say it itself.
    ///   - refreshBefore: How long before its expiry a token is replaced, at most half of `lifetime`.
    ///   - runCommand: Runs a program to its end and returns what it printed; throws when it failed.
    package init(
        argv: [String],
        lifetime: Duration = .seconds(3600),
        refreshBefore: Duration = .seconds(600),
        runCommand: @escaping @Sendable ([String]) async throws -> String
    ) {
        self.argv = argv
        self.lifetime = lifetime
        self.refreshBefore = refreshBefore
        self.runCommand = runCommand
    }

    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        if purpose == .poll,
            let token = kept.usable(
                for: account,
                dialect: dialect,
                now: serverTime,
                refreshBefore: refreshBefore
            )
        {
            return token
        }
        let output: String
        do {
            output = try await runCommand(argv)
        } catch {
            throw .commandFailed
        }
        let text = output.trimmedOfBlanks
        guard text.isTokenText else { throw .commandOutput }
        let claims = CompactJWT.peek(text)
        // The command is not told the account: after a change of identity it may still print the former one's.
        guard claims?.iss.map(account.isIssuer) ?? true else { throw .commandOutput }
        let claimed = Timestamp(numericDate: claims?.exp)
        let token = AccessToken(rawValue: text, expiresAt: claimed ?? serverTime + lifetime)
        if purpose == .poll { kept.keep(token, for: account, dialect: dialect, now: serverTime) }
        return token
    }

    package func refuse(_ token: AccessToken) async {
        kept.drop(token)
    }

    package func forget() async { kept.drop() }

    package var expiry: Timestamp? { get async { kept.expiry } }
}
