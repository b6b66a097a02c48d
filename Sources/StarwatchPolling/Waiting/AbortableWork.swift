import Synchronization

/// Work that a change of identity cancels without cancelling the task that waits for it.
package final class AbortableWork: Sendable {
    private struct Entry: Sendable {
        let cancel: @Sendable () -> Void
        let end: @Sendable () async -> Void
    }

    private struct State {
        var lastID: UInt64 = 0
        var entries: [UInt64: Entry] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `body` to its end. Cancelling the caller's task, or ``abort()``, cancels it.
    package func run<T: Sendable>(_ body: @escaping @Sendable () async -> T) async -> T {
        let (id, task) = state.withLock { state in
            // Unstructured: an abort cancels the work, and the caller goes on.
            let task = Task { await body() }
            state.lastID += 1
            state.entries[state.lastID] = Entry(cancel: { task.cancel() }, end: { _ = await task.value })
            return (state.lastID, task)
        }
        defer { state.withLock { _ = $0.entries.removeValue(forKey: id) } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Cancels the work under way, and returns when it has ended.
    package func abort() async {
        let entries = state.withLock { Array($0.entries.values) }
        for entry in entries { entry.cancel() }
        for entry in entries { await entry.end() }
    }
}
