import StarwatchCore

/// The circuit breaker of one host of a sink, with the waits and the results that it has seen.
struct SinkCircuit {
    /// Whether every attempt is at the same address. Of many accounts, a rejection concerns only one of them.
    let isOfOneAddress: Bool
    private var circuit = CircuitBreaker(policy: .sink)
    private(set) var isDisabled = false
    /// Start of the present outage: the first attempt that failed since the host last responded.
    private(set) var downSince: Timestamp?
    /// Number of rejections since the sink last accepted a notification.
    private var rejectionsInARow = 0
    /// Reason of the last attempt; `nil` if it succeeded, or before the first one.
    private(set) var lastReason: FailureReason?
    /// Condition before a reload, until an attempt shows another one; `nil` if the sink worked.
    private var former: SinkCondition?
    /// Time of the last success of this process; `nil` before the first one.
    private(set) var lastSuccess: Timestamp?
    private(set) var standing = HostStanding.unknown
    /// End and length of the wait that the host requested.
    private var requestedWait: (until: Timestamp, wait: Duration)?

    /// The wait for one of many receivers. Servers that delay unknown senders want some minutes (RFC 6647).
    private static let receiverWait = Duration.seconds(900)
    /// The same if the answer asks for a shorter one, or for a moment that has passed.
    private static let shortestReceiverWait = Duration.seconds(5)
    /// The same if the answer asks for a longer one. An account's receiver cannot have its notifications wait for days.
    static let longestReceiverWait = Duration.seconds(3600)

    init(isOfOneAddress: Bool) { self.isOfOneAddress = isOfOneAddress }

    /// Keeps the wait that `former` requested, and its outage with start and reason. The circuit starts anew, so that the next
    /// attempt comes at once.
    init(after former: SinkCircuit) {
        self.init(isOfOneAddress: former.isOfOneAddress)
        requestedWait = former.requestedWait
        (downSince, lastSuccess, standing) = (former.downSince, former.lastSuccess, former.standing)
        lastReason = former.isDisabled ? nil : former.lastReason
        // A reload enables a disabled sink.
        let condition = former.condition
        self.former = condition == .down || condition == .rejecting ? condition : nil
    }

    var state: CircuitState { circuit.state }

    var condition: SinkCondition {
        let present = SinkCondition(
            isDisabled: isDisabled,
            circuit: circuit.state,
            rejectionsInARow: rejectionsInARow
        )
        return present == .working ? former ?? present : present
    }

    /// The reason why it is not tried at `now`. A probe in progress has no end.
    func pause(at now: Timestamp) -> ChangeWait? {
        if let wait = requestedWait, wait.until > now { return ChangeWait(.sinkRetryAfter, until: wait.until) }
        let next = circuit.nextTry.flatMap { $0 > now ? $0 : nil }
        guard circuit.state == .closed else { return ChangeWait(.sinkCircuit, until: next) }
        return next.map { ChangeWait(.sinkBackoff, until: $0) }
    }

    /// Requests permission to try the host.
    ///
    /// - Returns: The end of the wait, `nil` if the host can be tried now; and the new state, if this call changed it.
    mutating func admit(at now: Timestamp) -> (waitUntil: Timestamp?, changed: CircuitState?) {
        // The wait never exceeds the requested length, so a clock that was set back does not prolong it.
        if let requested = requestedWait, requested.until > now {
            let until = min(requested.until, now + requested.wait)
            requestedWait?.until = until
            return (until, nil)
        }
        return switch circuit.admit(at: now) {
        case .allowed: (nil, nil)
        case .probe: (nil, .halfOpen)
        case .wait(let until): (until, nil)
        case .probing: (now + .seconds(1), nil)
        }
    }

    /// Ends the requested wait.
    mutating func clearWait() -> Timestamp? {
        defer { requestedWait = nil }
        return requestedWait?.until
    }

    /// Records that an attempt was cancelled before the host responded. The next attempt can use the trial.
    ///
    /// - Returns: The new state, if it changed.
    mutating func abandon(at now: Timestamp) -> CircuitState? { circuit.abandoned(at: now) }

    /// Records the result of an attempt.
    ///
    /// - Returns: The new state, if it changed, and the time of the next try.
    mutating func record(_ result: SinkResult, at now: Timestamp) -> (changed: CircuitState?, nextTry: Timestamp) {
        let changed: CircuitState?
        // The host works if it names one of many receivers, as if it had rejected.
        let isOwnWait = result.isOwnWait && !isOfOneAddress
        let isOfReceiver = result.isOfReceiver && !isOfOneAddress || isOwnWait && !result.isServerError
        let answer = isOfReceiver ? .rejected : result.answer
        lastReason = isOfOneAddress || result.isNoAnswer && !isOfReceiver ? result.failure?.reason : nil
        if answer == .ok { lastSuccess = now }
        standing = answer == .unavailable || answer == .timeout ? .fails : .answers
        if former?.isOver(after: answer) == true { former = nil }
        switch answer {
        case .ok, .rejected:
            rejectionsInARow = answer == .ok || !isOfOneAddress ? 0 : rejectionsInARow + 1
            downSince = nil
            changed = circuit.succeeded()
        case .unavailable, .timeout:
            downSince = downSince ?? now
            changed = circuit.unavailable(at: now)
        case .gone:
            isDisabled = isOfOneAddress
            downSince = nil
            changed = circuit.succeeded()
        }
        if isOfReceiver {
            let wait = max(result.retryAfter ?? Self.receiverWait, Self.shortestReceiverWait)
            return (changed, now + min(wait, Self.longestReceiverWait))
        }
        requestedWait = nil
        var next = circuit.nextTry ?? now
        if let retryAfter = result.retryAfter, isOwnWait {
            next = max(next, now + min(retryAfter, Self.longestReceiverWait))
        } else if let retryAfter = result.retryAfter {
            requestedWait = (now + retryAfter, retryAfter)
            next = max(next, now + retryAfter)
        }
        return (changed, next)
    }
}

extension SinkCondition {
    /// Whether an answer shows that a sink is no longer in this condition.
    fileprivate func isOver(after answer: SinkAnswer) -> Bool {
        switch answer {
        case .ok, .gone: true
        case .rejected: self == .down
        case .unavailable, .timeout: false
        }
    }
}
