import Synchronization

/// The passes of a service: one at a time, and cancelled together when the identity changes, which does not cancel the
/// tasks that wait for them.
package final class PassRunner: Sendable {
    private struct Entry: Sendable {
        let cancel: @Sendable () -> Void
        let end: @Sendable () async -> Void
    }

    private struct State {
        var lastID: UInt64 = 0
        var entries: [UInt64: Entry] = [:]
    }

    private let turn = ConcurrencyLimit(1)
    private let state = Mutex(State())

    package init() {}

    /// Makes a pass to its end, after the one in flight. Cancelling the caller's task, or ``abort()``, cancels it.
    ///
    /// - Parameter isConcurrent: Whether the pass waits for no other, and no other for it.
    /// - Returns: `nil` if it was cancelled before it began.
    package func run<T: Sendable>(
        concurrently isConcurrent: Bool = false,
        _ pass: @escaping @Sendable () async -> T
    ) async -> T? {
        let (id, task) = state.withLock { state in
            // Unstructured: an abort cancels the work, and the caller continues.
            let task = Task { () -> T? in
                if isConcurrent { return await pass() }
                guard await self.turn.acquire() else { return nil }
                defer { self.turn.release() }
                return await pass()
            }
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

    /// Cancels the work in flight, and returns when it has ended.
    package func abort() async {
        let entries = state.withLock { $0.entries.sorted { $0.key < $1.key }.map(\.value) }
        for entry in entries { entry.cancel() }
        for entry in entries { await entry.end() }
    }
}
