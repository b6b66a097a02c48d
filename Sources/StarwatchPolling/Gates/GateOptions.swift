package import StarwatchCore

/// The limits of requests to one server.
package struct GateLimits: Sendable, Hashable {
    /// Requests in any 60 s.
    package var requestsPerMinute: Int
    /// Acknowledged identifiers in any 60 s.
    package var acknowledgementsPerMinute: Int
    /// Whether each account has a window of its own, which survives a restart, and a request without an account has none.
    /// Otherwise all requests have one, until the process ends.
    package var areOfAccounts: Bool
    /// Requests in any second, of all accounts together; `nil`: as many as their windows allow.
    package var requestsPerSecond: Int?

    package init(requestsPerMinute: Int, acknowledgementsPerMinute: Int = 1, areOfAccounts: Bool = false) {
        self.requestsPerMinute = requestsPerMinute
        self.acknowledgementsPerMinute = acknowledgementsPerMinute
        self.areOfAccounts = areOfAccounts
    }
}

/// A server's clock, as its responses show it.
package protocol ServerTime: Sendable {
    /// The best known server time.
    var now: Timestamp { get }

    /// Learns from the headers of a response.
    ///
    /// - Parameters:
    ///   - age: `Age`, which shows that a cache responded.
    ///   - roundTrip: From the request to the answer, by the monotonic clock.
    func observe(serverTime: String?, date: String?, age: String?, sentAt: Timestamp, roundTrip: Duration)

    /// Adapts to a local clock that was set.
    func recordStep()
}

/// A receiver of a gate's events, for metrics.
package protocol GateObserver: Sendable {
    /// The circuit changed its state.
    func circuitChanged(to state: CircuitState)

    /// Reports the present waits and limits.
    ///
    /// - Parameters:
    ///   - heldUntil: The time before which the server wants no request; `nil` if requests can go.
    ///   - remaining: The remaining requests of this minute.
    func update(heldUntil: Timestamp?, remaining: Int, circuit: CircuitState)
}
