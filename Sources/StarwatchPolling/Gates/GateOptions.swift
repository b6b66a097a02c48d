package import StarwatchCore

/// The limits of requests to one server.
package struct GateLimits: Sendable, Hashable {
    /// Requests in any 60 s.
    package var requestsPerMinute: Int
    /// Acknowledged identifiers in any 60 s.
    package var acknowledgementsPerMinute: Int

    package init(requestsPerMinute: Int, acknowledgementsPerMinute: Int = 1) {
        self.requestsPerMinute = requestsPerMinute
        self.acknowledgementsPerMinute = acknowledgementsPerMinute
    }
}

/// The windows of a gate.
package enum GateWindows: Sendable {
    /// One for each account, which outlives a restart. A request without an account has none.
    case perAccount
    /// One for all requests, for as long as the process runs.
    case shared
}

/// A server's clock, as far as its answers tell it.
package protocol ServerTime: Sendable {
    /// The server's time, as well as it is known.
    var now: Timestamp { get }

    /// Learns from the headers of an answer.
    ///
    /// - Parameters:
    ///   - age: `Age`, which says that a cache answered.
    ///   - roundTrip: From the request to the answer, by the monotonic clock.
    func observe(serverTime: String?, date: String?, age: String?, sentAt: Timestamp, roundTrip: Duration)

    /// Follows a local clock that was set.
    func noteStep()
}

/// A receiver of what a gate does, for metrics.
package protocol GateObserver: Sendable {
    /// The circuit changed its state.
    func circuitChanged(to state: CircuitState)

    /// Waits and limits as they are now.
    ///
    /// - Parameters:
    ///   - heldUntil: The time before which the server wants no request; `nil` when requests can go.
    ///   - remaining: Requests that can still go in this minute.
    func update(heldUntil: Timestamp?, remaining: Int, circuit: CircuitState)
}
