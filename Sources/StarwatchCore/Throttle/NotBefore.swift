/// Who makes us wait; the `source` label of the throttle metrics.
public enum ThrottleSource: String, Sendable, CaseIterable, Codable {
    /// The server asked for it.
    case server
    /// Our own limit.
    case client
}

/// The time before which no request may go to a server: the latest of all reasons to wait.
public struct NotBefore: Sendable, Hashable, Codable {
    /// `nil` when there is nothing to wait for.
    public private(set) var until: Timestamp?
    /// Who asked for ``until``.
    public private(set) var source: ThrottleSource?

    public init() {}

    public init(until: Timestamp, source: ThrottleSource) {
        self.until = until
        self.source = source
    }

    /// Adds a reason to wait. It never shortens the wait.
    public mutating func extend(to time: Timestamp, source: ThrottleSource) {
        if let until, until >= time { return }
        self.until = time
        self.source = source
    }

    /// Moves the wait along with a wall clock that was set by `jump`, positive for forward.
    public mutating func shift(by jump: Duration) {
        until = until.map { $0 + jump }
    }

    /// How long to wait at `now`; `nil` when requests may go.
    public func wait(at now: Timestamp) -> Duration? {
        guard let until, until > now else { return nil }
        return until - now
    }
}
