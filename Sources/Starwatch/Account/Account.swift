package import StarwatchCore
package import StarwatchPolling
import StarwatchTelemetry

/// The account of a runtime, for the workers that serve it: its identity and interests, its connection to the server, and the
/// wake-ups of its work.
package struct Account: Sendable {
    package let identity: IdentityContext
    package let api: EndorserAPI
    package let wakes: WakeSignals

    package var environment: Environment { api.environment }
    package var gate: Gate { api.gate }

    /// Scheme, host and port of the server.
    package var server: String { api.gate.server }

    /// Returns the stream of an identity's poll on the server.
    func stream(_ poll: PollName, of did: DID) -> StreamKey { StreamKey(account: did, server: server, poll: poll) }

    /// Whether the server has no endpoint for polls of a kind, so that they rest and cannot be stale.
    func lacksEndpoint(of kind: PollKind) -> Bool { kind.endpoints.contains(where: gate.known.lacks) }

    /// The time until which polls of a kind rest for a missing endpoint; `nil` if they do not rest.
    func restEnd(of kind: PollKind, now: Timestamp) -> Timestamp? {
        kind.endpoints.compactMap { gate.known.restEnd(of: $0, now: now) }.max()
    }
}

/// Shows the waits and the circuit of the account's server in the metrics.
package struct GateGauges: GateObserver {
    let metrics: AgentMetrics

    package func circuitChanged(to state: CircuitState) {
        metrics.api.circuitTransitions[metrics.circuitNames.all[0], state].increment()
    }

    package func update(heldUntil: Timestamp?, remaining: Int, circuit: CircuitState) {
        metrics.api.throttleUntil.set(heldUntil?.seconds ?? 0)
        metrics.api.rateLimitRemaining.set(Double(remaining))
        metrics.api.circuitState[metrics.circuitNames.all[0]].set(circuit.metricValue)
    }
}
