package import StarwatchCore
import Synchronization

/// Notices jumps of the local clock, whoever looks.
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

    /// How many were noticed.
    package var jumps: Int { state.withLock(\.jumps) }

    /// What the clock did since somebody last looked.
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
