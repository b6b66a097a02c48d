package import StarwatchCore
import Synchronization

/// The token of the last poll, for a second, so that a cycle asks its provider once.
///
/// A provider can read a file or run a program, so it is asked on the runtime's threads, not on those of a transport. A
/// changed secret file is therefore noticed a second late.
package final class TokenMemory: TokenProvider {
    private typealias Known = (token: AccessToken, account: DID, dialect: Dialect, at: Duration)

    private static let lifetime = Duration.seconds(1)

    private let provider: any TokenProvider
    private let monotonic: @Sendable () -> Duration
    private let onAnswer: @Sendable (_ isToken: Bool) -> Void
    private let last = Mutex<(known: Known?, generation: Int, token: AccessToken?)>((nil, 0, nil))

    /// - Parameters:
    ///   - monotonic: The time since a fixed moment.
    ///   - onAnswer: Called when the provider gives another token than before, or none because of an error.
    package init(
        of provider: any TokenProvider,
        monotonic: @escaping @Sendable () -> Duration,
        onAnswer: @escaping @Sendable (_ isToken: Bool) -> Void = { _ in }
    ) {
        (self.provider, self.monotonic, self.onAnswer) = (provider, monotonic, onAnswer)
    }

    package var isAnonymous: Bool { provider.isAnonymous }
    package var areMinted: Bool { provider.areMinted }

    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        if isAnonymous { return nil }
        let now = monotonic()
        let (known, generation, _) = last.withLock { $0 }
        if purpose == .poll, let known, known.account == account, known.dialect == dialect,
            now - known.at < Self.lifetime, known.token.expiresAt.map({ $0 > serverTime }) ?? true
        {
            return known.token
        }
        let token: AccessToken?
        do {
            token = try await Offload.run { [provider] () throws(TokenError) in
                try await provider.token(for: account, dialect: dialect, purpose: purpose, serverTime: serverTime)
            }
        } catch {
            onAnswer(false)
            throw error
        }
        if let token {
            let isNew = last.withLock { last in
                defer { last.token = token }
                return last.token != token
            }
            if isNew { onAnswer(true) }
        }
        if purpose == .poll {
            let known = token.map { ($0, account, dialect, now) as Known }
            // A token that was obtained before another was refused can be the refused one.
            last.withLock { last in if last.generation == generation { last.known = known } }
        }
        return token
    }

    package func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {
        await Offload.run { [provider] in await provider.refuse(token, for: purpose) }
        drop()
    }

    package func forget() async {
        await Offload.run { [provider] in await provider.forget() }
        drop()
    }

    /// Forgets the token, also one that is being obtained.
    private func drop() { last.withLock { ($0.known, $0.generation) = (nil, $0.generation + 1) } }

    package func validate(account: DID) async throws(TokenError) {
        try await Offload.run { [provider] () throws(TokenError) in try await provider.validate(account: account) }
    }

    package var expiry: Timestamp? { get async { await Offload.run { [provider] in await provider.expiry } } }

    package var poolRemaining: Int? {
        get async { await Offload.run { [provider] in await provider.poolRemaining } }
    }
}
