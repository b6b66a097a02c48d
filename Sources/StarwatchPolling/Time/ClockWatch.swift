package import StarwatchCore
import Synchronization

/// Detects jumps of the local clock.
package final class ClockWatch: Sendable {
    private struct State {
        var detector = ClockJumpDetector()
        var jumps = 0
    }

    private let time: any TimeSource
    private let state = Mutex(State())

    package init(time: any TimeSource) {
        self.time = time
        _ = look()
    }

    /// The number of detected jumps.
    package var jumps: Int { state.withLock(\.jumps) }

    /// The clock's jumps since the last call.
    package func look() -> [ClockJumpDetector.Event] {
        state.withLock { state in
            let events = state.detector.observe(
                ClockJumpDetector.Reading(wall: time.now, monotonic: time.monotonic, boottime: time.boottime)
            )
            state.jumps += events.count
            return events
        }
    }
}
