import Synchronization

/// Wakes one waiting service; a wake that comes before the wait is kept, several are one.
package final class Signal: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Wakes the waiter, now or when it comes to wait.
    package func raise() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.isRaised = true }
            return state.waiter
        }
        waiter?.resume(returning: true)
    }

    /// Waits for a wake, or for `duration` when there is none; the task's cancellation ends the wait too.
    ///
    /// Only one task may wait at a time.
    package func wait(for duration: Duration, on time: any TimeSource) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            group.addTask { try? await time.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits for a wake, or for the task's cancellation, which leaves a wake for who waits next.
    ///
    /// - Returns: Whether it was a wake.
    @discardableResult
    package func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let atOnce: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.isRaised {
                        state.isRaised = false
                        return true
                    }
                    state.waiter = continuation
                    return nil
                }
                if let atOnce { continuation.resume(returning: atOnce) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: false)
        }
    }
}
