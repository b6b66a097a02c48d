import Starwatch
import StarwatchCore

/// The clock of one process: who sleeps on it while the process is stopped wakes when it goes on.
final class ProcessClock: TimeSource {
    private struct State {
        var stoppedUntil: Int64 = 0
        /// Microseconds for which the process was stopped, with the whole of the present stop.
        var stopped: Int64 = 0
    }

    private let base: SimulatedClock
    /// Whether the time of stops is missing, as on a clock that stands still meanwhile.
    private let isBlind: Bool
    private let state = Confined(State())

    init(_ base: SimulatedClock, isBlind: Bool = false) { (self.base, self.isBlind) = (base, isBlind) }

    var now: Timestamp { base.now }
    var monotonic: Duration { base.monotonic }
    var boottime: Duration { isBlind ? base.boottime - .microseconds(state.value.stopped) : base.boottime }

    func sleep(for duration: Duration) async throws {
        try await base.sleep(for: duration)
        await waitWhileStopped()
    }

    /// Stops the process for a time.
    func stop(for duration: Duration) {
        let length = duration.wholeMilliseconds * 1000
        state.value.stoppedUntil = base.boot + length
        state.value.stopped += length
    }

    var isStopped: Bool { base.boot < state.value.stoppedUntil }

    /// Returns when the process goes on, also if the task was cancelled.
    func waitWhileStopped() async {
        while isStopped {
            let rest = Duration.microseconds(state.value.stoppedUntil - base.boot)
            // Unstructured, because a cancelled task could not sleep.
            await Task { [base] in try? await base.sleep(for: rest) }.value
        }
    }
}
