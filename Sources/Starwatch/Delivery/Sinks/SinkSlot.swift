package import StarwatchCore
package import StarwatchTelemetry
import Synchronization

/// A sink with its circuit breaker. The dispatcher uses it to decide about the next try.
package final class SinkSlot: Sendable {
    package let sink: any NotificationSink
    /// The sink's name as a label value.
    package let label: ConfiguredName
    /// The sink's name as a circuit's target.
    package let target: ConfiguredName
    /// Whether rows wait for the sink, and when a notification is given up.
    package let policy: SinkPolicy
    private let state = Mutex(State())

    private struct State {
        var circuit = CircuitBreaker(policy: .sink)
        var isDisabled = false
        /// Start of the present outage: the first attempt that failed since the sink last responded.
        var downSince: Timestamp?
        /// Number of rejections since the sink last accepted a notification.
        var rejectionsInARow = 0
        /// Reason of the last attempt; `nil` if it succeeded, or before the first one.
        var lastReason: FailureReason?
        /// Condition before a reload, until an attempt shows another one; `nil` if the sink worked.
        var former: SinkCondition?
        /// Time of the last success of this process; `nil` before the first one.
        var lastSuccess: Timestamp?
        /// End and length of the wait that the sink requested.
        var requestedWait: (until: Timestamp, wait: Duration)?
    }

    package init(
        sink: any NotificationSink,
        label: ConfiguredName,
        target: ConfiguredName,
        policy: SinkPolicy = SinkPolicy()
    ) {
        self.sink = sink
        self.label = label
        self.target = target
        self.policy = policy
    }

    package var name: String { sink.name }

    /// Keeps the wait that `former` requested, and its outage with start and reason. `former` is the same sink before a
    /// reload. The circuit starts anew, so that the next attempt comes at once.
    func keepWait(of former: SinkSlot) {
        let condition = former.health.condition
        let kept = former.state.withLock {
            ($0.requestedWait, $0.downSince, $0.isDisabled ? nil : $0.lastReason, $0.lastSuccess)
        }
        state.withLock {
            ($0.requestedWait, $0.downSince, $0.lastReason, $0.lastSuccess) = kept
            // A reload enables a disabled sink.
            $0.former = condition == .down || condition == .rejecting ? condition : nil
        }
    }

    /// The sink's condition, with the start of its outage.
    package var health: HealthFacts.Sink {
        state.withLock { state in
            let present = SinkCondition(
                isDisabled: state.isDisabled,
                circuit: state.circuit.state,
                rejectionsInARow: state.rejectionsInARow
            )
            return HealthFacts.Sink(
                name: name,
                condition: present == .working ? state.former ?? present : present,
                downSince: state.downSince,
                failure: state.lastReason
            )
        }
    }

    /// `true` after the sink returned 410 Gone. It stays disabled until the configuration is loaded again.
    package var isDisabled: Bool { state.withLock(\.isDisabled) }

    /// Reason why the last attempt failed; `nil` if it succeeded, or before the first one.
    package var lastReason: FailureReason? { state.withLock(\.lastReason) }

    /// Time of the last success; `nil` before the first one of this process.
    package var lastSuccess: Timestamp? { state.withLock(\.lastSuccess) }

    package var circuitState: CircuitState { state.withLock(\.circuit.state) }

    /// Response to ``SinkSlot/admit(at:)``.
    package struct Admission: Sendable, Hashable {
        /// End of the wait; `nil` if the sink can be tried now.
        package var waitUntil: Timestamp?
        /// The circuit's new state, if this call changed it.
        package var changed: CircuitState?
    }

    /// The reason why the sink is not tried at `now`; `nil` if it is. Starts no probe.
    package func pause(at now: Timestamp) -> SinkPause? {
        state.withLock { state in
            if let wait = state.requestedWait, wait.until > now { return .asked(until: wait.until) }
            let next = state.circuit.nextTry.flatMap { $0 > now ? $0 : nil }
            return state.circuit.state == .closed ? next.map { .backoff(until: $0) } : .circuit(until: next)
        }
    }

    /// Requests permission to try the sink.
    package func admit(at now: Timestamp) -> Admission {
        state.withLock { state in
            // The wait never exceeds the requested length, so a clock that was set back does not prolong it.
            if let requested = state.requestedWait, requested.until > now {
                let until = min(requested.until, now + requested.wait)
                state.requestedWait?.until = until
                return Admission(waitUntil: until)
            }
            return switch state.circuit.admit(at: now) {
            case .allowed: Admission()
            case .probe: Admission(changed: .halfOpen)
            case .wait(let until): Admission(waitUntil: until)
            case .probing: Admission(waitUntil: now + .seconds(1))
            }
        }
    }

    /// Records that an attempt was cancelled before the sink responded. The next attempt can use the trial.
    ///
    /// - Returns: The circuit's new state, if it changed.
    package func abandon(at now: Timestamp) -> CircuitState? {
        state.withLock { $0.circuit.abandoned(at: now) }
    }

    /// Records the result of an attempt.
    ///
    /// - Returns: The circuit's new state, if it changed, and the time of the next try.
    package func record(_ result: SinkResult, at now: Timestamp) -> (changed: CircuitState?, nextTry: Timestamp) {
        state.withLock { state in
            let changed: CircuitState?
            state.lastReason = result.failure?.reason
            if result.answer == .ok { state.lastSuccess = now }
            if state.former?.isOver(after: result.answer) == true { state.former = nil }
            switch result.answer {
            case .ok, .rejected:
                state.rejectionsInARow = result.answer == .ok ? 0 : state.rejectionsInARow + 1
                state.downSince = nil
                changed = state.circuit.succeeded()
            case .unavailable, .timeout:
                state.downSince = state.downSince ?? now
                changed = state.circuit.unavailable(at: now)
            case .gone:
                state.isDisabled = true
                state.downSince = nil
                changed = state.circuit.succeeded()
            }
            state.requestedWait = nil
            var next = state.circuit.nextTry ?? now
            if let retryAfter = result.retryAfter {
                state.requestedWait = (now + retryAfter, retryAfter)
                next = max(next, now + retryAfter)
            }
            return (changed, next)
        }
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
