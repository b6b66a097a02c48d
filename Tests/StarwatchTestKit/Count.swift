import Synchronization

/// A number that a test waits for.
package final class Count: Sendable {
    private struct State {
        var value = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var value: Int { state.withLock(\.value) }

    package func set(_ value: Int) { change { $0 = value } }

    package func add() { change { $0 += 1 } }

    private func change(_ change: @Sendable (inout Int) -> Void) {
        let ready = state.withLock { state in
            change(&state.value)
            let ready = state.watchers.filter { $0.count <= state.value }
            state.watchers.removeAll { $0.count <= state.value }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    /// Returns as soon as it is so much.
    package func reached(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.value >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
