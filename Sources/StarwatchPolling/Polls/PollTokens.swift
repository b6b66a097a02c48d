public import StarwatchCore
package import StarwatchTransport

/// Source of tokens for a host application's requests.
public struct PollTokens: Sendable {
    /// The token source. It is a reference: two requests have the same tokens if they have the same source.
    final class Source: Sendable {
        /// - Parameter refused: The token that the server rejected, if a new one is needed.
        let token: @Sendable (_ account: DID?, _ refused: AccessToken?, _ now: Timestamp) async throws -> AccessToken?

        init(_ token: @escaping @Sendable (DID?, AccessToken?, Timestamp) async throws -> AccessToken?) {
            self.token = token
        }
    }

    /// `nil`: requests carry no token.
    let source: Source?

    /// Requests carry no token.
    public static let none = PollTokens(source: nil)

    /// Tokens that `make` returns, without "Bearer".
    ///
    /// The manager calls `make` before every attempt, and once more after a rejected token. `make` can cache tokens. If
    /// it returns `nil`, nothing is sent unless the request allows to go without a token.
    public static func bearer(
        _ make: @escaping @Sendable (_ account: DID?, _ wasRefused: Bool) async throws -> String?
    ) -> PollTokens {
        PollTokens(
            source: Source { account, refused, _ in
                try await make(account, refused != nil).map { AccessToken(rawValue: $0, expiresAt: nil) }
            }
        )
    }

    private init(source: Source?) { self.source = source }

    /// An agent's tokens.
    package init(_ provider: any TokenProvider, dialect: @escaping @Sendable () async -> Dialect) {
        source = Source { account, refused, now in
            if let refused { await provider.refuse(refused, for: .poll) }
            guard let account else { return nil }
            return try await provider.token(for: account, dialect: await dialect(), purpose: .poll, serverTime: now)
        }
    }
}
