package import StarwatchStore

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
        do { return try await store.hostWatermark(key) } catch { throw PollError(error) }
    }

    /// - Throws: As ``watermark(of:)``.
    public func advance(_ key: String, from expected: String?, to new: String) async throws -> Bool {
        do {
            return try await store.advanceHostWatermark(key, from: expected, to: new, now: time.now)
        } catch {
            throw PollError(error)
        }
    }
}
