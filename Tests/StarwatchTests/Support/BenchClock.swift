import StarwatchCore
import Synchronization

@testable import Starwatch

/// A clock that moves only when it is told to, and counts who sleeps on it.
final class BenchClock: TimeSource {
    private struct Sleeper {
        let id: Int
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Waiter {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var elapsed: Duration = .seconds(1000)
        var sleepers: [Sleeper] = []
        var waiters: [Waiter] = []
        var cancelled: Set<Int> = []
        var nextID = 0

        /// Those who waited for as many sleepers as there are now.
        mutating func takeWaiters() -> [Waiter] {
            let count = sleepers.count
            let ready = waiters.filter { $0.count <= count }
            waiters.removeAll { $0.count <= count }
            return ready
        }
    }

    private let start: Timestamp
    private let state = Mutex(State())

    /// - Parameter start: The wall clock's first time, by default noon of 2026-01-01.
    init(start: Timestamp = Timestamp(seconds: 1_767_268_800)) {
        self.start = start
    }

    var now: Timestamp { start + state.withLock(\.elapsed) - .seconds(1000) }
    var monotonic: Duration { state.withLock(\.elapsed) }
    var boottime: Duration { monotonic }

    func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (isCancelled, ready) = state.withLock { state -> (Bool, [Waiter]) in
                    if state.cancelled.remove(id) != nil { return (true, []) }
                    let deadline = state.elapsed + duration
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    return (false, state.takeWaiters())
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for waiter in ready { waiter.continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Returns as soon as `count` tasks sleep on this clock.
    func sleepers(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.waiters.append(Waiter(count: count, continuation: continuation))
                return state.takeWaiters()
            }
            for waiter in ready { waiter.continuation.resume() }
        }
    }

    /// Moves both clocks, and wakes who slept until then.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.elapsed += duration
            let due = state.sleepers.filter { $0.deadline <= state.elapsed }
            state.sleepers.removeAll { $0.deadline <= state.elapsed }
            return due.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Moves to when the next sleeper wakes, if there is one.
    func advanceToNextSleeper() {
        let wait = state.withLock { state in
            state.sleepers.map(\.deadline).min().map { $0 - state.elapsed }
        }
        if let wait { advance(by: wait) }
    }
}
