package import StarwatchStore
import Synchronization

/// Store of a host application's watermarks.
///
/// A watermark only rises. Text compares byte by byte, so a later value must sort after an earlier one, as ISO 8601
/// dates, ULIDs and numbers of a fixed width do.
public protocol StorageAdapter: Sendable {
    /// The watermark of `key`; `nil` if there is none.
    func watermark(of key: String) async throws -> String?

    /// Moves the watermark from `expected` to `new`, if it still is `expected` and `new` is greater.
    ///
    /// `false` is a normal result: another task moved it first, or it would not rise. Read it again and decide again.
    func advance(_ key: String, from expected: String?, to new: String) async throws -> Bool
}

/// Watermarks that end with the process.
public final class InMemoryStorage: StorageAdapter {
    private let watermarks = Mutex<[String: String]>([:])

    /// A store without watermarks.
    public init() {}

    /// The watermark of `key`; `nil` before the first one.
    public func watermark(of key: String) async throws -> String? { watermarks.withLock { $0[key] } }

    /// Moves the watermark forward, if it still is `expected`.
    public func advance(_ key: String, from expected: String?, to new: String) async throws -> Bool {
        watermarks.withLock { watermarks in
            let current = watermarks[key]
            guard current == expected, current.map({ $0.utf8.lexicographicallyPrecedes(new.utf8) }) ?? true else {
                return false
            }
            watermarks[key] = new
            return true
        }
    }
}

/// Watermarks in the agent's database. An agent gives its own: ``Agent/storage``.
public struct SQLiteStorage: StorageAdapter {
    private let store: Store
    private let time: any TimeSource

    package init(store: Store, time: any TimeSource) {
        self.store = store
        self.time = time
    }

    /// - Throws: ``PollError`` when the database fails.
    public func watermark(of key: String) async throws -> String? {
        do { return try await store.host.watermark(key) } catch { throw PollError(error) }
    }

    /// - Throws: As ``watermark(of:)``.
    public func advance(_ key: String, from expected: String?, to new: String) async throws -> Bool {
        do {
            return try await store.host.advanceWatermark(key, from: expected, to: new, now: time.now)
        } catch {
            throw PollError(error)
        }
    }
}
