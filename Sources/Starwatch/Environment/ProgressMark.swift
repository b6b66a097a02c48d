package import StarwatchCore
import Synchronization

/// When local work last moved on, for the health check. Never depends on the remote server.
package final class ProgressMark: Sendable {
    /// Work that moves on by itself, or is stuck by itself.
    package enum Line: Hashable, Sendable {
        /// A poll's schedule, and the cycle it is in.
        case poll(PollName)
        /// The store answers, if only with an error.
        case store
    }

    private let last = Mutex<[Line: Duration]>([:])

    package init() {}

    /// Notes progress at `now`, by the monotonic clock.
    package func mark(_ line: Line, at now: Duration) {
        last.withLock { $0[line] = max($0[line] ?? now, now) }
    }

    /// The line waits for others, whose own marks count meanwhile; until it is marked again.
    package func pause(_ line: Line) {
        last.withLock { $0[line] = nil }
    }

    /// The lines without progress within their limit.
    package func stuck(at now: Duration, limit: (Line) -> Duration) -> [Line] {
        last.withLock { last in last.filter { now - $0.value > limit($0.key) }.map(\.key) }
    }
}
