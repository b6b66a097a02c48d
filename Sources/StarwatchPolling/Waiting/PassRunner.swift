import Synchronization

/// The passes of a service: one at a time, and cancelled together when the identity changes, which does not cancel the
/// tasks that wait for them.
package final class PassRunner: Sendable {
    private typealias Entry = (cancel: @Sendable () -> Void, end: @Sendable () async -> Void)

    private let turn = ConcurrencyLimit(1)
    private let state = Mutex<(lastID: UInt64, entries: [UInt64: Entry])>((0, [:]))

    package init() {}

    /// A pass that has started.
    package struct Running<Value: Sendable>: Sendable {
        fileprivate let task: Task<Value?, Never>

        /// Waits for its end. Cancelling the caller's task cancels the pass.
        ///
        /// - Returns: `nil` if it was cancelled before it began.
        package func value() async -> Value? {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Makes a pass to its end, after the one in flight. Cancelling the caller's task, or ``abort()``, cancels it.
    ///
    /// - Parameter isConcurrent: Whether the pass waits for no other, and no other for it.
    /// - Returns: `nil` if it was cancelled before it began.
    package func run<T: Sendable>(
        concurrently isConcurrent: Bool = false,
        _ pass: @escaping @Sendable () async -> T
    ) async -> T? {
        await start(concurrently: isConcurrent, pass).value()
    }

    /// Starts a pass, as ``run(concurrently:_:)``.
    package func start<T: Sendable>(
        concurrently isConcurrent: Bool = false,
        _ pass: @escaping @Sendable () async -> T
    ) -> Running<T> {
        state.withLock { state in
            state.lastID += 1
            // Unstructured: an abort cancels the work, and the caller continues.
            let task = Task { [id = state.lastID] () -> T? in
                defer { self.state.withLock { _ = $0.entries.removeValue(forKey: id) } }
                if isConcurrent { return await pass() }
                guard await self.turn.acquire() else { return nil }
                defer { self.turn.release() }
                return await pass()
            }
            state.entries[state.lastID] = ({ @Sendable in task.cancel() }, { @Sendable in _ = await task.value })
            return Running(task: task)
        }
    }

    /// Cancels the work in flight, and returns when it has ended.
    package func abort() async {
        let entries = state.withLock { $0.entries.sorted { $0.key < $1.key }.map(\.value) }
        for entry in entries { entry.cancel() }
        for entry in entries { await entry.end() }
    }
}
