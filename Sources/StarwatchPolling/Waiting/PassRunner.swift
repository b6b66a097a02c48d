import ServiceLifecycle
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

    /// Makes a pass after the one in flight has ended.
    ///
    /// - Returns: `nil` if it was cancelled before it began.
    package func run<T: Sendable>(_ pass: @escaping @Sendable () async -> T) async -> T? {
        await runBeside { await self.turn.run(pass) }
    }

    /// Runs work to its end, concurrently with the passes. Cancelling the caller's task, or ``abort()``, cancels it.
    package func runBeside<T: Sendable>(_ body: @escaping @Sendable () async -> T) async -> T {
        let (id, task) = state.withLock { state in
            // Unstructured: an abort cancels the work, and the caller continues.
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

    /// Cancels the work in flight, and returns when it has ended.
    package func abort() async {
        let entries = state.withLock { Array($0.entries.values) }
        for entry in entries { entry.cancel() }
        for entry in entries { await entry.end() }
    }
}

/// The loop of a service that makes passes.
package struct PassLoop: Sendable {
    /// Raised if there is work before the next pass is due.
    package var wake: Signal
    package var time: any TimeSource
    /// `true` if a graceful shutdown lets the pass in flight finish and makes one more; otherwise the pass is
    /// cancelled.
    package var finishes: Bool

    package init(wake: Signal, time: any TimeSource, finishes: Bool) {
        self.wake = wake
        self.time = time
        self.finishes = finishes
    }

    /// Makes passes until a graceful shutdown or the task's cancellation.
    ///
    /// - Parameter pass: One pass; returns the longest wait before the next.
    package func run(_ pass: @escaping @Sendable () async -> Duration) async {
        guard finishes else {
            return await cancelWhenGracefulShutdown {
                while !Task.isCancelled { await self.wake.wait(for: await pass(), on: self.time) }
            }
        }
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            let wait = await pass()
            await cancelWhenGracefulShutdown { await self.wake.wait(for: wait, on: self.time) }
        }
        if !Task.isCancelled { _ = await pass() }
    }
}
