import StarwatchPolling
import StarwatchStore

/// A check of the database's pages and keys, beside an agent that can have it open.
package enum DatabaseTrial: Sendable, Hashable {
    case sound
    /// There is no file yet.
    case absent
    /// An older version made it, and the next start updates it.
    case older
    /// The sentence says what to do.
    case failed(String)

    package static func of(_ options: AgentOptions) async -> DatabaseTrial {
        var store = StoreOptions(options.storage)
        do {
            store.masterKey = try await MasterKeySource(options: options.security, time: SystemClock()).read()
            try await store.checkDatabase()
            return .sound
        } catch {
            switch error {
            case StoreError.absent: return .absent
            case StoreError.version(let found, let supported, _)
            where found < supported.lowerBound && options.storage.owner == .agent:
                return .older
            case let error as StoreError: return .failed(error.description)
            default: return .failed((error as? AgentError)?.message ?? "\(error)")
            }
        }
    }
}
