import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// The signing keys of the encrypted database, for the token provider.
final class StoredSigningKeys: SigningKeySource {
    private let store = Mutex<Store?>(nil)
    private let changes = Atomic<UInt64>(0)

    /// Sets the database. Before that there are no keys.
    func attach(_ store: Store) {
        self.store.withLock { $0 = store }
        noteChange()
    }

    /// Makes the provider read the keys again.
    func noteChange() { changes.add(1, ordering: .sequentiallyConsistent) }

    var generation: UInt64 { changes.load(ordering: .sequentiallyConsistent) }

    func keys(of account: DID) async throws(TokenError) -> [SigningKey] {
        guard let store = store.withLock({ $0 }) else { return [] }
        do throws(StoreError) { return try await store.signingKeys(of: account) } catch { throw .signingKeysUnreadable }
    }
}
