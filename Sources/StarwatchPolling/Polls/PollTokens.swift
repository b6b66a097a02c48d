public import StarwatchCore
package import StarwatchTransport

/// Where the tokens of a host application's requests come from.
public struct PollTokens: Sendable {
    /// What a token is asked of. A reference: two requests have the same tokens when they have the same source.
    final class Source: Sendable {
        /// - Parameter refused: The token that the server did not accept, when another is wanted.
        let token: @Sendable (_ account: DID?, _ refused: AccessToken?, _ now: Timestamp) async throws -> AccessToken?

        init(
            _ token: @escaping @Sendable (DID?, AccessToken?, Timestamp) async throws -> AccessToken?
        ) {
            self.token = token
        }
    }

    /// `nil`: requests carry no token.
    let source: Source?

    /// Requests carry no token.
    public static let none = PollTokens(source: nil)

    /// The tokens that `make` makes, without "Bearer".
    ///
    /// It is asked before every try, and once more where the server did not accept what it gave; it keeps tokens
    /// itself, if that is worth while. `nil` from it means that there is none: then nothing is sent, unless the request
    /// allows to go without.
    public static func bearer(
        _ make: @escaping @Sendable (_ account: DID?, _ wasRefused: Bool) async throws -> String?
    ) -> PollTokens {
        PollTokens(
            source: Source { account, refused, _ in
                try await make(account, refused != nil).map { AccessToken(rawValue: $0, expiresAt: nil) }
            }
        )
    }

    private init(source: Source?) {
        self.source = source
    }

    /// An agent's tokens.
    package init(_ provider: any TokenProvider, dialect: @escaping @Sendable () async -> Dialect) {
        source = Source { account, refused, now in
            if let refused { await provider.refuse(refused) }
            guard let account else { return nil }
            return try await provider.token(for: account, dialect: await dialect(), purpose: .poll, serverTime: now)
        }
    }
}
