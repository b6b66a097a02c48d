/// Who makes us wait; the `source` label of the throttle metrics.
public enum ThrottleSource: String, Sendable, CaseIterable, Codable {
    /// The server asked for it.
    case server
    /// Our own limit.
    case client
}

/// The time before which no request may go to a server: the latest of all reasons to wait.
public struct NotBefore: Sendable, Hashable {
    /// `nil` when there is nothing to wait for.
    public private(set) var until: Timestamp?
    /// When it was asked for; `nil` when that is not known.
    public private(set) var since: Timestamp?

    public init() {}

    public init(until: Timestamp, since: Timestamp?) {
        self.until = until
        self.since = since
    }

    /// Takes up what a server asked for in a former run, by the clock as it is now.
    ///
    /// A wait of a time to come was asked for under a clock that was ahead: it begins now, and is as long as then.
    public init(restoring until: Timestamp, since: Timestamp?, now: Timestamp) {
        let ahead = since.map { max($0 - now, .zero) } ?? .zero
        self.init(until: until - ahead, since: since.map { $0 - ahead })
    }

    /// Adds a reason to wait, given at `since`. It never shortens the wait.
    ///
    /// - Returns: Whether the wait has become longer.
    @discardableResult
    public mutating func extend(to time: Timestamp, since: Timestamp?) -> Bool {
        if let until, until >= time { return false }
        self = NotBefore(until: time, since: since)
        return true
    }

    /// Moves the wait along with a wall clock that was set by `jump`, positive for forward.
    public mutating func shift(by jump: Duration) {
        until = until.map { $0 + jump }
        since = since.map { $0 + jump }
    }

    /// How long to wait at `now`; `nil` when requests may go.
    public func wait(at now: Timestamp) -> Duration? {
        guard let until, until > now else { return nil }
        return until - now
    }
}
