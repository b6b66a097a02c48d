import StarwatchCore
import StarwatchTransport
import Synchronization

/// A provider that does something once while a request waits for its token, and gives none.
final class BusyTokens: TokenProvider {
    let work: Mutex<@Sendable () async -> Void>

    init(whileMaking work: @escaping @Sendable () async -> Void = {}) { self.work = Mutex(work) }

    func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        let work = work.withLock { work in
            defer { work = {} }
            return work
        }
        await work()
        return nil
    }

    func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {}
    var expiry: Timestamp? { get async { nil } }
}
