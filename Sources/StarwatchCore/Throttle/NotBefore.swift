/// The origin of a wait; the `source` label of the throttle metrics.
public enum ThrottleSource: String, Sendable, CaseIterable, Codable {
    /// The server asked for it.
    case server
    /// Our own rate limit.
    case client
}

/// The earliest time for a request to a server: the latest of all waits.
public struct NotBefore: Sendable, Hashable {
    /// The end of the wait; `nil` for none.
    public private(set) var until: Timestamp?
    /// The beginning of the wait; `nil` if unknown.
    public private(set) var since: Timestamp?

    public init() {}

    public init(until: Timestamp, since: Timestamp?) {
        self.until = until
        self.since = since
    }

    /// Restores a wait that the server asked for before a restart.
    ///
    /// If `since` is in the future, the clock was ahead at that time. The wait then starts now and keeps its length, which
    /// is at most ``RetryPolicy/longestServerWait``.
    public init(restoring until: Timestamp, since: Timestamp?, now: Timestamp) {
        let ahead = since.map { max($0 - now, .zero) } ?? .zero
        let latest = now + RetryPolicy.longestServerWait
        self.init(until: min(until - ahead, latest), since: since.map { $0 - ahead })
    }

    /// Adds a wait that began at `since`. Never shortens the existing one.
    ///
    /// - Returns: Whether the wait became longer.
    @discardableResult
    public mutating func extend(to time: Timestamp, since: Timestamp?) -> Bool {
        if let until, until >= time { return false }
        self = NotBefore(until: time, since: since)
        return true
    }

    /// Adjusts the wait to a wall clock that was set by `jump`, positive for forward.
    public mutating func shift(by jump: Duration) {
        until = until.map { $0 + jump }
        since = since.map { $0 + jump }
    }

    /// The remaining wait at `now`; `nil` if requests are allowed.
    public func wait(at now: Timestamp) -> Duration? {
        guard let until, until > now else { return nil }
        return until - now
    }
}
