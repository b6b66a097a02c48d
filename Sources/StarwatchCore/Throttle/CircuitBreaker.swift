/// Stops requests to a server or sink that is down, and probes for its recovery.
///
/// Ask with ``admit(at:)``; report with ``succeeded()``, ``failed(_:at:)`` or ``abandoned(at:)``.
public struct CircuitBreaker: Sendable, Hashable {
    /// The answer of ``CircuitBreaker/admit(at:)``.
    public enum Admission: Sendable, Hashable {
        case allowed
        /// The circuit has just become half-open, and this request is the probe.
        case probe
        case wait(until: Timestamp)
        /// Another request is probing.
        case probing
    }

    public let policy: CircuitPolicy
    public private(set) var state: CircuitState = .closed
    /// The number of consecutive failures that count.
    public private(set) var consecutiveFailures = 0
    /// The earliest time of the next request; `nil` for no wait.
    public private(set) var nextTry: Timestamp?

    private var failedProbes = 0
    private var wait = Duration.zero

    public init(policy: CircuitPolicy = .server) { self.policy = policy }

    /// Whether this class of failure means that the server is down. Contract violations, refusals and rate limits do
    /// not.
    public static func counts(_ failure: FailureClass) -> Bool {
        switch failure {
        case .network, .timeout, .serverError: true
        case .rateLimited, .unavailable, .unauthenticated, .malformed, .refused, .cancelled: false
        }
    }

    /// Whether ``admit(at:)`` would allow a request. Starts no probe.
    public mutating func isReady(at now: Timestamp) -> Bool {
        guard state != .halfOpen else { return false }
        return remainingWait(at: now) == nil
    }

    /// Asks for permission to send a request. An open circuit whose wait is over becomes half-open.
    public mutating func admit(at now: Timestamp) -> Admission {
        if state == .halfOpen { return .probing }
        if let remaining = remainingWait(at: now) { return .wait(until: now + remaining) }
        nextTry = nil
        if state == .closed { return .allowed }
        state = .halfOpen
        return .probe
    }

    /// Reports a success.
    ///
    /// - Returns: ``CircuitState/closed`` if the state changed; otherwise `nil`.
    @discardableResult
    public mutating func succeeded() -> CircuitState? {
        let changed = state != .closed
        self = CircuitBreaker(policy: policy)
        return changed ? .closed : nil
    }

    /// Reports a failure.
    ///
    /// A failure that does not count closes a half-open circuit, because the server answered. It is ignored otherwise.
    /// ``FailureClass/cancelled`` is treated as ``abandoned(at:)``.
    ///
    /// - Returns: The new state; `nil` if it did not change.
    @discardableResult
    public mutating func failed(_ failure: FailureClass, at now: Timestamp) -> CircuitState? {
        if failure == .cancelled { return abandoned(at: now) }
        guard Self.counts(failure) else { return state == .halfOpen ? succeeded() : nil }
        return failedCounting(isNetwork: failure == .network, at: now)
    }

    /// Reports that a sink is down.
    ///
    /// - Returns: The new state; `nil` if it did not change.
    @discardableResult
    public mutating func unavailable(at now: Timestamp) -> CircuitState? {
        failedCounting(isNetwork: false, at: now)
    }

    /// Reports that the probe ended without a result. The next request can probe at once.
    ///
    /// - Returns: The new state; `nil` if it did not change.
    @discardableResult
    public mutating func abandoned(at now: Timestamp) -> CircuitState? {
        guard state == .halfOpen else { return nil }
        state = .open
        nextTry = now
        wait = .zero
        return .open
    }

    /// Adjusts the wait to a wall clock that was set by `jump`, positive for forward.
    public mutating func shift(by jump: Duration) { nextTry = nextTry.map { $0 + jump } }

    private mutating func failedCounting(isNetwork: Bool, at now: Timestamp) -> CircuitState? {
        consecutiveFailures += 1
        let before = state
        if state == .closed, consecutiveFailures < policy.failuresToOpen {
            wait = policy.waitWhileClosed?.delay(afterFailures: consecutiveFailures) ?? .zero
        } else {
            failedProbes += 1
            state = .open
            wait =
                if isNetwork, let probe = policy.networkProbe {
                    probe
                } else {
                    policy.probe.delay(afterFailures: failedProbes)
                }
        }
        nextTry = wait > .zero ? now + wait : nil
        return state == before ? nil : state
    }

    /// The remaining wait, never more than the original one: a clock that was set back does not extend it.
    private mutating func remainingWait(at now: Timestamp) -> Duration? {
        guard let next = nextTry, next > now else { return nil }
        let remaining = min(next - now, wait)
        nextTry = now + remaining
        return remaining
    }
}

/// The state of a circuit breaker; the `to` label of its transitions.
public enum CircuitState: String, Sendable, CaseIterable {
    /// Requests are allowed.
    case closed
    /// One request is probing.
    case halfOpen = "half_open"
    /// Requests are blocked.
    case open

    /// The value of `starwatch_circuit_state`.
    public var metricValue: Double { self == .closed ? 0 : self == .halfOpen ? 1 : 2 }
}

/// The conditions for opening and probing a circuit.
public struct CircuitPolicy: Sendable, Hashable {
    /// The number of consecutive failures that open it.
    public var failuresToOpen: Int
    /// The delay before the next request while the circuit is closed; `nil` for none.
    public var waitWhileClosed: Backoff?
    /// The delay before each probe; constant if base and cap are equal.
    public var probe: Backoff
    /// The delay before the next probe after a network failure; `nil` uses ``probe``.
    public var networkProbe: Duration?

    /// For the Endorser server: opens after five failed cycles; probes after 60 s, or 15 s when the network is down.
    public static let server = CircuitPolicy(
        failuresToOpen: 5,
        waitWhileClosed: nil,
        probe: Backoff(base: .seconds(60), cap: .seconds(60)),
        networkProbe: .seconds(15)
    )

    /// For a sink: delays of 1, 2, 4 and 8 s until the fifth failure opens it; probes after 5 s, doubling to 60 s.
    public static let sink = CircuitPolicy(
        failuresToOpen: 5,
        waitWhileClosed: Backoff(base: .seconds(1), cap: .seconds(8)),
        probe: Backoff(base: .seconds(5), cap: .seconds(60)),
        networkProbe: nil
    )
}
