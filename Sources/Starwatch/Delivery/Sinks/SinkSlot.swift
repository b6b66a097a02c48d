package import StarwatchCore
package import StarwatchTelemetry
import Synchronization

/// A sink with its circuit: what the dispatcher needs to decide whether to try it.
package final class SinkSlot: Sendable {
    package let sink: any NotificationSink
    /// The sink's name as a label value.
    package let label: ConfiguredName
    /// The same as a circuit's target.
    package let target: ConfiguredName
    private let state = Mutex(State())

    private struct State {
        var circuit = CircuitBreaker(policy: .sink)
        var isDisabled = false
        /// Until when the sink asked to be left alone, and for how long.
        var asked: (until: Timestamp, wait: Duration)?
    }

    package init(sink: any NotificationSink, label: ConfiguredName, target: ConfiguredName) {
        self.sink = sink
        self.label = label
        self.target = target
    }

    package var name: String { sink.name }

    /// Goes on leaving the sink alone for as long as it asked `former`, the same sink before a reload.
    func keepWait(of former: SinkSlot) {
        let asked = former.state.withLock(\.asked)
        state.withLock { $0.asked = asked }
    }

    /// Whether the sink said that it wants no more (410); it stays so until the configuration is loaded again.
    package var isDisabled: Bool { state.withLock(\.isDisabled) }

    package var circuitState: CircuitState { state.withLock(\.circuit.state) }

    /// An answer to ``SinkSlot/admit(at:)``.
    package struct Admission: Sendable, Hashable {
        /// The time until which the sink must be left alone; `nil` when it may be tried.
        package var waitUntil: Timestamp?
        /// The circuit's state, when asking changed it.
        package var changed: CircuitState?
    }

    /// Asks to try the sink.
    package func admit(at now: Timestamp) -> Admission {
        state.withLock { state in
            // Never more than what was asked: a clock that was set back does not prolong it.
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

    /// Notes that an attempt was given up before the sink answered: a trial is open to the next one.
    ///
    /// - Returns: The circuit's new state, when it changed.
    package func abandon(at now: Timestamp) -> CircuitState? {
        state.withLock { $0.circuit.abandoned(at: now) }
    }

    /// Notes how an attempt ended.
    ///
    /// - Returns: The circuit's new state, when it changed, and when the sink may be tried again.
    package func note(_ result: SinkResult, at now: Timestamp) -> (changed: CircuitState?, nextTry: Timestamp) {
        state.withLock { state in
            let changed: CircuitState?
            switch result {
            case .ok, .rejected: changed = state.circuit.succeeded()
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
