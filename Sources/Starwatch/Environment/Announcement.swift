import Synchronization

/// A value that becomes known once, to any number of waiters.
package final class Announcement<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isOver = false
        var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes `value` known. Only the first call counts.
    package func announce(_ value: Value) { finish(value) }

    /// Ends every wait: there will be no value.
    package func giveUp() { finish(nil) }

    /// The value; `nil` if there will be none, or if the task is cancelled.
    package func value() async -> Value? {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Value?? = state.withLock { state in
                    if state.isOver { return .some(state.value) }
                    // A cancellation that came before this lock was taken found no waiter to end.
                    if Task.isCancelled { return .some(nil) }
                    state.waiters[id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: nil)
        }
    }

    private func finish(_ value: Value?) {
        let waiters = state.withLock { state in
            guard !state.isOver else { return [CheckedContinuation<Value?, Never>]() }
            state.isOver = true
            state.value = value
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }
}
