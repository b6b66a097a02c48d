import Synchronization

/// When local work last moved on, for the health check. Never depends on the remote server.
package final class ProgressMark: Sendable {
    private let last: Mutex<Duration>

    /// - Parameter now: The monotonic clock.
    package init(now: Duration) {
        last = Mutex(now)
    }

    /// Notes progress at `now`, by the monotonic clock.
    package func mark(_ now: Duration) { last.withLock { $0 = max($0, now) } }

    /// Whether there was progress within `limit`.
    package func isFresh(at now: Duration, within limit: Duration) -> Bool { last.withLock { now - $0 <= limit } }
}
