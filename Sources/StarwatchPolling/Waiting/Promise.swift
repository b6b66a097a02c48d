import Synchronization

/// A value that becomes known once, and the tasks that wait for it.
///
/// The only place that holds continuations; ``Signal``, ``ConcurrencyLimit`` and ``SingleFlight`` are built on it.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var isSettled = false
        var value: Value?
        var lastID: UInt64 = 0
        /// In the order in which they began to wait.
        var waiters: [(id: UInt64, continuation: CheckedContinuation<Value?, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes `value` known. Only the first call of this or ``abandon()`` counts.
    package func fulfil(_ value: Value) { settle(value) }

    /// Ends every wait, present and future, without a value.
    package func abandon() { settle(nil) }

    /// Whether the value is known, or the promise abandoned.
    package var isSettled: Bool { state.withLock(\.isSettled) }

    /// The value; `nil` when the promise is abandoned or the waiting task is cancelled.
    package func value() async -> Value? {
        let id = nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { add($0, id, unlessCancelled: true) }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: nil)
        }
    }

    /// The value; `nil` when the promise is abandoned. Cancelling the waiting task does not end the wait.
    package func outcome() async -> Value? {
        let id = nextID()
        return await withCheckedContinuation { add($0, id, unlessCancelled: false) }
    }

    private func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func add(_ continuation: CheckedContinuation<Value?, Never>, _ id: UInt64, unlessCancelled: Bool) {
        let answer: Value?? = state.withLock { state in
            if state.isSettled { return .some(state.value) }
            // The cancellation handler can have run before this, without a waiter to end.
            if unlessCancelled, Task.isCancelled { return .some(nil) }
            state.waiters.append((id, continuation))
            return nil
        }
        if let answer { continuation.resume(returning: answer) }
    }

    private func settle(_ value: Value?) {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            if !state.isSettled { (state.isSettled, state.value) = (true, value) }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: value) }
    }
}
