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
