import StarwatchCore
import Testing

@Suite struct ServerReadinessTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func readiness(_ circuit: inout CircuitBreaker, wait: Int? = nil, at seconds: Int = 0) -> ServerReadiness {
        ServerReadiness(wait: wait.map { now + .seconds($0) }, circuit: &circuit, now: now + .seconds(seconds))
    }

    @Test func aServerIsReadyWithoutAWait() {
        var circuit = CircuitBreaker()
        #expect(readiness(&circuit) == .ready)
        #expect(readiness(&circuit, wait: 10) == .waits(until: now + .seconds(10)))
        #expect(readiness(&circuit, wait: 10, at: 10) == .ready)
    }

    @Test func anOpenCircuitIsProbedWhenItsWaitIsOver() {
        var circuit = CircuitBreaker()
        for _ in 0..<5 { circuit.failed(.serverError, at: now) }
        #expect(readiness(&circuit) == .waits(until: now + .seconds(60)))
        #expect(readiness(&circuit, wait: 90) == .waits(until: now + .seconds(90)))
        #expect(readiness(&circuit, at: 60) == .probe)
        #expect(circuit.admit(at: now + .seconds(60)) == .probe)
        #expect(readiness(&circuit, at: 61) == .waits(until: nil))
        circuit.succeeded()
        #expect(readiness(&circuit, at: 61) == .ready)
    }
}
