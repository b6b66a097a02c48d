/// Stops asking a server or sink that is down, and finds out when it is back.
///
/// Ask with ``admit(at:)``, report with ``succeeded()``, ``failed(_:at:)`` or ``abandoned(at:)``.
public struct CircuitBreaker: Sendable, Hashable {
    /// An answer to ``CircuitBreaker/admit(at:)``.
    public enum Admission: Sendable, Hashable {
        case allowed
        /// The circuit has just become half-open and this is the one request on trial.
        case probe
        case wait(until: Timestamp)
        /// Another request is on trial.
        case probing
    }

    public let policy: CircuitPolicy
    public private(set) var state: CircuitState = .closed
    /// Failures in a row that counted.
    public private(set) var consecutiveFailures = 0
    /// When the next try may be made; `nil` when at any time.
    public private(set) var nextTry: Timestamp?

    private var failedProbes = 0
    private var wait = Duration.zero

    public init(policy: CircuitPolicy = .server) {
        self.policy = policy
    }

    /// Whether a failure of this class says that the server is down. Answers that break the contract, that refuse,
    /// or that ask for a wait do not (semantics: retry, throttle, circuit).
    public static func counts(_ failure: FailureClass) -> Bool {
        switch failure {
        case .network, .timeout, .serverError: true
        case .rateLimited, .unavailable, .unauthenticated, .malformed, .refused, .cancelled: false
        }
    }

    /// Whether ``admit(at:)`` would let a request go. Begins no trial.
    public mutating func isReady(at now: Timestamp) -> Bool {
        guard state != .halfOpen else { return false }
        return remainingWait(at: now) == nil
    }

    /// Asks to make a request. Makes an open circuit half-open when its time has come.
    public mutating func admit(at now: Timestamp) -> Admission {
        if state == .halfOpen { return .probing }
        if let remaining = remainingWait(at: now) { return .wait(until: now + remaining) }
        nextTry = nil
        if state == .closed { return .allowed }
        state = .halfOpen
        return .probe
    }

    /// Reports an answer. Returns ``CircuitState/closed`` when that changed the state.
    @discardableResult
    public mutating func succeeded() -> CircuitState? {
        let changed = state != .closed
        self = CircuitBreaker(policy: policy)
        return changed ? .closed : nil
    }

    /// Reports a failure. Returns the state when that changed it.
    ///
    /// A failure that does not count closes a half-open circuit, for the server answered, and is ignored otherwise.
    /// ``FailureClass/cancelled`` is the same as ``abandoned(at:)``.
    @discardableResult
    public mutating func failed(_ failure: FailureClass, at now: Timestamp) -> CircuitState? {
        if failure == .cancelled { return abandoned(at: now) }
        guard Self.counts(failure) else { return state == .halfOpen ? succeeded() : nil }
        return failedCounting(isNetwork: failure == .network, at: now)
    }

    /// Reports a sink that is down. Returns the state when that changed it.
    @discardableResult
    public mutating func unavailable(at now: Timestamp) -> CircuitState? {
        failedCounting(isNetwork: false, at: now)
    }

    /// Reports that the request on trial brought no result: the next one may be tried at once.
    @discardableResult
    public mutating func abandoned(at now: Timestamp) -> CircuitState? {
        guard state == .halfOpen else { return nil }
        state = .open
        nextTry = now
        wait = .zero
        return .open
    }

    /// Moves the wait along with a wall clock that was set by `jump`, positive for forward.
    public mutating func shift(by jump: Duration) {
        nextTry = nextTry.map { $0 + jump }
    }

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

    /// Never more than the wait that was set: a clock that was set back does not prolong it.
    private mutating func remainingWait(at now: Timestamp) -> Duration? {
        guard let next = nextTry, next > now else { return nil }
        let remaining = min(next - now, wait)
        nextTry = now + remaining
        return remaining
    }
}
