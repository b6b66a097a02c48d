import Starwatch
import StarwatchCore

/// Clock that stands still while any job can run, and then jumps to the next deadline.
///
/// ``boot`` is the true time. The wall clock can be set, and the monotonic clock stands still during a suspend.
final class SimulatedClock: TimeSource {
    private struct Sleeper {
        let deadline: Int64
        let id: Int
        let continuation: UnsafeContinuation<Void, any Error>
    }

    private struct State {
        var boot: Int64 = 0
        var suspended: Int64 = 0
        var wallOffset: Int64
        var lastID = 0
        var sleepers: [Sleeper] = []

        /// Jumps to the next deadline; returns its sleepers in the order in which they went to sleep.
        mutating func advance() -> [Sleeper] {
            guard var next = sleepers.first?.deadline else { return [] }
            for sleeper in sleepers where sleeper.deadline < next { next = sleeper.deadline }
            boot = max(boot, next + suspended)
            var woken: [Sleeper] = []
            sleepers.removeAll { sleeper in
                guard sleeper.deadline <= next else { return false }
                woken.append(sleeper)
                return true
            }
            return woken
        }
    }

    /// 2026-01-01T12:00:00Z in microseconds.
    static let start: Int64 = 1_767_268_800_000_000

    private let state: Confined<State>

    init() {
        state = Confined(State(wallOffset: Self.start))
    }

    /// Microseconds since the start of the simulation.
    var boot: Int64 { state.value.boot }
    var now: Timestamp { Timestamp(milliseconds: (state.value.boot + state.value.wallOffset) / 1000) }
    var monotonic: Duration { .microseconds(state.value.boot - state.value.suspended) }
    var boottime: Duration { .microseconds(state.value.boot) }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        state.value.lastID += 1
        let id = state.value.lastID
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                // The task can be cancelled before this line, but not between this line and the next.
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                let (seconds, attoseconds) = duration.components
                let length = seconds * 1_000_000 + (attoseconds + 999_999_999_999) / 1_000_000_000_000
                let deadline = state.value.boot - state.value.suspended + length
                state.value.sleepers.append(Sleeper(deadline: deadline, id: id, continuation: continuation))
            }
        } onCancel: {
            guard let index = state.value.sleepers.firstIndex(where: { $0.id == id }) else { return }
            state.value.sleepers.remove(at: index).continuation.resume(throwing: CancellationError())
        }
    }

    /// Jumps to the next deadline and wakes its sleepers; returns `false` if there is none.
    func advance() -> Bool {
        // A woken task runs later, on the loop, so nothing changes the state in between.
        let woken = state.value.advance()
        for sleeper in woken { sleeper.continuation.resume() }
        return !woken.isEmpty
    }

    /// Sets the wall clock forward or back.
    func step(by duration: Duration) { state.value.wallOffset += duration.wholeMilliseconds * 1000 }

    /// Suspends the machine.
    func suspend(for duration: Duration) {
        state.value.boot += duration.wholeMilliseconds * 1000
        state.value.suspended += duration.wholeMilliseconds * 1000
    }
}
