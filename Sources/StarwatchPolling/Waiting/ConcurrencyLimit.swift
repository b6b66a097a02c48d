import Synchronization

/// A limit on the number of concurrent tasks; the others wait in order of arrival.
package final class ConcurrencyLimit: Sendable {
    private let state: Mutex<(free: Int, queue: [Promise<Void>])>

    /// - Parameter limit: At least 1.
    package init(_ limit: Int) { state = Mutex((limit, [])) }

    /// Runs `body` when its turn comes.
    ///
    /// - Returns: `nil` if the task was cancelled while it waited.
    package func run<T: Sendable>(_ body: () async -> T) async -> T? {
        guard await acquire() else { return nil }
        defer { release() }
        return await body()
    }

    /// Waits for a turn, which must end with ``release()``.
    ///
    /// - Returns: `false` if the task was cancelled while it waited.
    package func acquire() async -> Bool {
        let (isFree, turn): (Bool, Promise<Void>?) = state.withLock { state in
            if Task.isCancelled { return (false, nil) }
            if state.free > 0 {
                state.free -= 1
                return (true, nil)
            }
            let turn = Promise<Void>()
            state.queue.append(turn)
            return (false, turn)
        }
        guard let turn else { return isFree }
        if await turn.value() != nil { return true }
        let isQueued = state.withLock { state in
            guard let index = state.queue.firstIndex(where: { $0 === turn }) else { return false }
            state.queue.remove(at: index)
            return true
        }
        // The turn came together with the cancellation, so it passes to the next in the queue.
        if !isQueued { release() }
        return false
    }

    /// Ends a turn.
    package func release() {
        let next: Promise<Void>? = state.withLock { state in
            if state.queue.isEmpty {
                state.free += 1
                return nil
            }
            return state.queue.removeFirst()
        }
        next?.fulfil(())
    }
}
