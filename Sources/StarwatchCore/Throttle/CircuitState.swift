/// The state of a circuit breaker; the `to` label of its transitions.
public enum CircuitState: String, Sendable, CaseIterable {
    /// Requests are allowed.
    case closed
    /// One request is probing.
    case halfOpen = "half_open"
    /// Requests are blocked.
    case open

    /// The value of `starwatch_circuit_state`.
    public var metricValue: Double {
        switch self {
        case .closed: 0
        case .halfOpen: 1
        case .open: 2
        }
    }
}
