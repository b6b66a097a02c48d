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
    }

    package init(sink: any NotificationSink, label: ConfiguredName, target: ConfiguredName) {
        self.sink = sink
        self.label = label
        self.target = target
    }

    package var name: String { sink.name }

    /// Whether the sink said that it wants no more (410); it stays so until the configuration is loaded again.
    package var isDisabled: Bool { state.withLock(\.isDisabled) }

    package var circuitState: CircuitState { state.withLock(\.circuit.state) }

    /// The time until which the sink must be left alone; `nil` when it may be tried.
    package func admit(at now: Timestamp) -> Timestamp? {
        state.withLock { state in
            switch state.circuit.admit(at: now) {
            case .allowed, .probe: nil
            case .wait(let until): until
            case .probing: now + .seconds(1)
            }
        }
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
            var next = state.circuit.nextTry ?? now
            if case .unavailable(_, let retryAfter?) = result { next = max(next, now + retryAfter) }
            return (changed, next)
        }
    }

    /// Notes that an admitted attempt was not made.
    package func abandon(at now: Timestamp) { state.withLock { _ = $0.circuit.abandoned(at: now) } }
}
