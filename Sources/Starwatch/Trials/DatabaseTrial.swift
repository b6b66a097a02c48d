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

    /// The time for which a lock is watched. A transaction of the agent takes milliseconds.
    private static let watched = Duration.seconds(1)

    /// Returns the program that keeps a database locked for writing, as `sqlite3, pid 12`; `nil` if none does. The agent's own
    /// transactions do not count.
    package static func holder(of options: AgentOptions, time: any TimeSource) async -> String? {
        let steps = 5
        var holder: LockHolder?
        for step in 0...steps {
            guard let found = LockHolder.writing(to: options.storage.path), found.program != "starwatch",
                step == 0 || found == holder
            else { return nil }
            holder = found
            if step < steps { try? await time.sleep(for: watched / steps) }
        }
        return holder?.description
    }

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
