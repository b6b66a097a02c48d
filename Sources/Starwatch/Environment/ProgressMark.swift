package import StarwatchCore
import Synchronization

/// Time of the last local progress, for the health check. It never depends on the remote server.
package final class ProgressMark: Sendable {
    /// Work that progresses, or gets stuck, independently.
    package enum Line: Hashable, Sendable {
        /// A poll's schedule and its current cycle.
        case poll(PollName)
        /// The store's response, including an error.
        case store
    }

    private let last = Mutex<[Line: Duration]>([:])

    /// Records progress at `now`, by the monotonic clock.
    package func mark(_ line: Line, at now: Duration) {
        last.withLock { Self.advance(&$0[line, default: now], to: now) }
    }

    private static func advance(_ mark: inout Duration, to now: Duration) { mark = max(mark, now) }

    /// Pauses the line until its next mark. It waits for other lines, whose marks count meanwhile.
    package func pause(_ line: Line) { last.withLock { $0[line] = nil } }

    /// The age of the schedules' last progress, of the one that waits longest; zero if none waits.
    package func age(at now: Duration) -> Duration {
        last.withLock { last in
            last.reduce(.zero) { age, line in
                if case .poll = line.key { max(age, now - line.value) } else { age }
            }
        }
    }

    /// Returns the lines without progress within their limit.
    package func stuck(at now: Duration, limit: (Line) -> Duration) -> [Line] {
        last.withLock { last in last.filter { now - $0.value > limit($0.key) }.map(\.key) }
    }
}
