package import StarwatchCore
import Synchronization

/// Detects jumps of the local clock.
package final class ClockWatch: Sendable {
    private let time: any TimeSource
    private let state = Mutex((detector: ClockJumpDetector(), jumps: 0))

    package init(time: any TimeSource) {
        self.time = time
        _ = look()
    }

    /// The number of detected jumps.
    package var jumps: Int { state.withLock { $0.jumps } }

    /// The time, and the clock's jumps since the last call.
    package func look() -> (now: Timestamp, events: [ClockJumpDetector.Event]) {
        state.withLock { state in
            let now = time.now
            let events = state.detector.observe(
                ClockJumpDetector.Reading(wall: now, monotonic: time.monotonic, boottime: time.boottime)
            )
            state.jumps += events.count
            return (now, events)
        }
    }
}
