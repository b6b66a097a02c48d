package import StarwatchCore
import StarwatchPolling
import Synchronization

/// A clock that moves only when told, and knows who sleeps on it.
package final class ManualClock: TimeSource {
    /// Behaviour of a sleep.
    package enum Mode: Sendable {
        /// It waits until the clock was moved far enough.
        case waiting
        /// It moves the clock itself and returns at once, so that code with one task runs through.
        case jumping
    }

    private struct Sleeper {
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var mode: Mode
        var wall: Timestamp
        var monotonic = Duration.seconds(1000)
        var suspended = Duration.zero
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []
        var slept: [Duration] = []
    }

    /// 2026-01-01T12:00:00Z, a Thursday.
    package static let start = Timestamp(seconds: 1_767_268_800)

    private let state: Mutex<State>

    package init(at start: Timestamp = ManualClock.start, mode: Mode = .waiting) {
        state = Mutex(State(mode: mode, wall: start))
    }

    package var now: Timestamp { state.withLock(\.wall) }
    package var monotonic: Duration { state.withLock(\.monotonic) }
    package var boottime: Duration { state.withLock { $0.monotonic + $0.suspended } }

    /// Every sleep that was asked for, in order.
    package var slept: [Duration] { state.withLock(\.slept) }

    /// Number of sleeping tasks.
    package var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// When the next sleeper wakes, by the wall clock; `nil` when nobody sleeps.
    package var nextWake: Timestamp? {
        state.withLock { state in
            state.sleepers.values.map(\.deadline).min().map { state.wall + ($0 - state.monotonic) }
        }
    }

    package func setMode(_ mode: Mode) { state.withLock { $0.mode = mode } }

    package func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(duration, id: id, continuation)
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                if state.sleepers[id] == nil { state.cancelled.insert(id) }
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func begin(_ duration: Duration, id: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        enum Step {
            case cancelled, wait, jump
        }
        let (step, watchers) = state.withLock { state -> (Step, [Watcher]) in
            state.slept.append(duration)
            if state.cancelled.remove(id) != nil { return (.cancelled, []) }
            if state.mode == .jumping { return (.jump, []) }
            state.sleepers[id] = Sleeper(deadline: state.monotonic + duration, continuation: continuation)
            let count = state.sleepers.count
            let ready = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return (.wait, ready)
        }
        for watcher in watchers { watcher.continuation.resume() }
        switch step {
        case .wait: break
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .jump:
            advance(by: duration)
            continuation.resume()
        }
    }

    /// Returns as soon as so many sleep.
    package func sleepers(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append(Watcher(count: count, continuation: continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Moves all clocks, and wakes whose time has come.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.wall = state.wall + duration
            state.monotonic += duration
            let due = state.sleepers.filter { $0.value.deadline <= state.monotonic }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Sets the wall clock, as an administrator does; nobody wakes.
    package func setWall(to time: Timestamp) { state.withLock { $0.wall = time } }

    /// Lets the machine be suspended for so long: the monotonic clock stands still.
    package func suspend(for duration: Duration) {
        state.withLock { state in
            state.wall = state.wall + duration
            state.suspended += duration
        }
    }

    /// Lets time pass until `end`, waking the sleepers of so many tasks one after the other.
    package func run(until end: Timestamp, tasks: Int = 1, while isBusy: () -> Bool = { false }) async {
        while true {
            await sleepers(atLeast: tasks)
            while isBusy() { await Task.yield() }
            // One that was there can have been cancelled.
            guard let next = nextWake else { continue }
            guard next <= end else { return advance(by: end - now) }
            advance(by: next - now)
        }
    }
}
