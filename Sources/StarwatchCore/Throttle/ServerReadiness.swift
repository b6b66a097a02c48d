/// Whether a server takes requests now.
package enum ServerReadiness: Sendable, Hashable {
    case ready
    /// One request must first show that the server has recovered.
    case probe
    /// No request can go; `until` is `nil` while a probe is under way.
    case waits(until: Timestamp?)

    /// - Parameter wait: The end of the wait that the server asked for.
    package init(wait: Timestamp?, circuit: inout CircuitBreaker, now: Timestamp) {
        if let wait, wait > now {
            self = .waits(until: wait)
        } else if circuit.isReady(at: now) {
            self = circuit.state == .closed ? .ready : .probe
        } else {
            self = .waits(until: circuit.nextTry)
        }
    }
}
