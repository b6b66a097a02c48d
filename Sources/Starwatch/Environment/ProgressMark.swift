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

    /// The lines with their last progress; `nil` for one that is paused.
    private let last = Mutex<[(line: Line, mark: Duration?)]>([])

    /// Records progress at `now`, by the monotonic clock.
    package func mark(_ line: Line, at now: Duration) {
        last.withLock { last in
            guard let place = last.firstIndex(where: { $0.line == line }) else { return last.append((line, now)) }
            last[place].mark = max(last[place].mark ?? now, now)
        }
    }

    /// Pauses the line until its next mark. It waits for other lines, whose marks count meanwhile.
    package func pause(_ line: Line) {
        last.withLock { last in
            if let place = last.firstIndex(where: { $0.line == line }) { last[place].mark = nil }
        }
    }

    /// The age of the schedules' last progress, of the one that waits longest; zero if none waits.
    package func age(at now: Duration) -> Duration {
        last.withLock { last in
            last.reduce(.zero) { age, line in
                if case .poll = line.line, let mark = line.mark { max(age, now - mark) } else { age }
            }
        }
    }

    /// Returns the lines without progress within their limit.
    package func stuck(at now: Duration, limit: (Line) -> Duration) -> [Line] {
        last.withLock { last in
            last.filter { line in line.mark.map { now - $0 > limit(line.line) } ?? false }.map(\.line)
        }
    }
}
