package import StarwatchCore
import StarwatchPolling
import StarwatchTelemetry

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
