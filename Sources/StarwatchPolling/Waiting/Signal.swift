import Synchronization

/// A wake-up for one waiting service. A wake before the wait is kept; several count as one.
package final class Signal: Sendable {
    private let state = Mutex<(isRaised: Bool, waiter: Promise<Void>?)>((false, nil))

    package init() {}

    /// Wakes the waiter, or the next one if nobody waits.
    package func raise() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.isRaised = true }
            return state.waiter
        }
        waiter?.fulfil(())
    }

    /// Waits for a wake, at most for `duration`. Cancelling the task ends the wait too.
    ///
    /// Only one task can wait at a time.
    package func wait(for duration: Duration, on time: any TimeSource) async {
        let isRaised = state.withLock { state in
            defer { state.isRaised = false }
            return state.isRaised
        }
        if isRaised { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            group.addTask { try? await time.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits for a wake. Cancelling the task ends the wait, and leaves a wake for the next one.
    ///
    /// - Returns: `false` if the task was cancelled.
    @discardableResult
    package func wait() async -> Bool {
        let waiter = Promise<Void>()
        let isRaised: Bool? = state.withLock { state in
            if Task.isCancelled { return false }
            if state.isRaised {
                state.isRaised = false
                return true
            }
            state.waiter = waiter
            return nil
        }
        if let isRaised { return isRaised }
        if await waiter.value() != nil { return true }
        state.withLock { state in
            // A wake that came together with the cancellation belongs to the next wait.
            if state.waiter === waiter { state.waiter = nil } else { state.isRaised = true }
        }
        return false
    }
}
