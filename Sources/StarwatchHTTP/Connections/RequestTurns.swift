import NIOCore
import Synchronization

/// The turns of requests that clients sent before they had the previous answer.
///
/// One of them begins at a time, after a pause in which the event loop serves everyone else. Without the pause it would
/// answer all requests of a connection before it looks at another one, because nothing in between waits.
///
/// A turn lasts until its answer begins, so a slow request of the control API delays others that were sent too early, and
/// nothing else.
final class RequestTurns: Sendable {
    private struct Waiter: Sendable {
        var eventLoop: any EventLoop
        var begin: @Sendable () -> Void
    }

    private struct State {
        var isTaken = false
        var waiters: CircularBuffer<Waiter> = []
    }

    private let pause: TimeAmount
    private let state = Mutex(State())

    init(pause: Duration) { self.pause = TimeAmount(pause) }

    /// Calls `begin` on the event loop when the turn has come. The caller then has to call ``end()``.
    func wait(on eventLoop: any EventLoop, _ begin: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiters.append(Waiter(eventLoop: eventLoop, begin: begin)) }
        beginNext()
    }

    func end() {
        state.withLock { $0.isTaken = false }
        beginNext()
    }

    private func beginNext() {
        let next = state.withLock { state -> Waiter? in
            guard !state.isTaken, let next = state.waiters.popFirst() else { return nil }
            state.isTaken = true
            return next
        }
        if let next { next.eventLoop.scheduleTask(in: pause, next.begin) }
    }
}
