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
    private let state = Mutex(State())

    private struct State {
        var circuit = CircuitBreaker(policy: .sink)
        var isDisabled = false
        /// Number of rejections since the sink last accepted a notification.
        var rejectionsInARow = 0
        /// Reason of the last attempt; `nil` if it succeeded, or before the first one.
        var lastReason: FailureReason?
        /// End and length of the wait that the sink requested.
        var asked: (until: Timestamp, wait: Duration)?
    }

    package init(sink: any NotificationSink, label: ConfiguredName, target: ConfiguredName) {
        self.sink = sink
        self.label = label
        self.target = target
    }

    package var name: String { sink.name }

    /// Keeps the wait that `former` requested. `former` is the same sink before a reload.
    func keepWait(of former: SinkSlot) {
        let asked = former.state.withLock(\.asked)
        state.withLock { $0.asked = asked }
    }

    /// `true` after the sink returned 410 Gone. It stays disabled until the configuration is loaded again.
    package var isDisabled: Bool { state.withLock(\.isDisabled) }

    /// `true` if the sink responds, but has rejected everything of late.
    package var isRejecting: Bool {
        state.withLock { $0.circuit.state == .closed && $0.rejectionsInARow >= Self.rejectionsOfAll }
    }

    /// Number of rejections in a row after which a sink counts as rejecting everything.
    private static let rejectionsOfAll = 3

    /// Reason why the last attempt failed; `nil` if it succeeded, or before the first one.
    package var lastReason: FailureReason? { state.withLock(\.lastReason) }

    package var circuitState: CircuitState { state.withLock(\.circuit.state) }

    /// Response to ``SinkSlot/admit(at:)``.
    package struct Admission: Sendable, Hashable {
        /// End of the wait; `nil` if the sink can be tried now.
        package var waitUntil: Timestamp?
        /// The circuit's new state, if this call changed it.
        package var changed: CircuitState?
    }

    /// Requests permission to try the sink.
    package func admit(at now: Timestamp) -> Admission {
        state.withLock { state in
            // The wait never exceeds the requested length, so a clock that was set back does not prolong it.
            if let asked = state.asked, asked.until > now {
                let until = min(asked.until, now + asked.wait)
                state.asked?.until = until
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
    package func note(_ result: SinkResult, at now: Timestamp) -> (changed: CircuitState?, nextTry: Timestamp) {
        state.withLock { state in
            let changed: CircuitState?
            state.lastReason = result.failure?.reason
            switch result {
            case .ok, .rejected:
                state.rejectionsInARow = result == .ok ? 0 : state.rejectionsInARow + 1
                changed = state.circuit.succeeded()
            case .unavailable, .timeout: changed = state.circuit.unavailable(at: now)
            case .gone:
                state.isDisabled = true
                changed = state.circuit.succeeded()
            }
            state.asked = nil
            var next = state.circuit.nextTry ?? now
            if case .unavailable(_, let retryAfter?) = result {
                state.asked = (now + retryAfter, retryAfter)
                next = max(next, now + retryAfter)
            }
            return (changed, next)
        }
    }
}
