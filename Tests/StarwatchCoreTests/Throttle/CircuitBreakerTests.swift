import StarwatchCore
import Testing

@Suite struct CircuitBreakerTests {
    private let start = Timestamp(seconds: 1_767_225_600)

    private func opened(by failureClass: FailureClass) -> CircuitBreaker {
        var circuit = CircuitBreaker()
        for _ in 0..<5 { circuit.failed(failureClass, at: start) }
        return circuit
    }

    @Test func opensAfterFiveFailuresInARow() {
        var circuit = CircuitBreaker()
        for _ in 0..<4 {
            #expect(circuit.failed(.serverError, at: start) == nil)
            #expect(circuit.admit(at: start) == .allowed)
        }
        #expect(circuit.failed(.timeout, at: start) == .open)
        #expect(circuit.admit(at: start) == .wait(until: start + .seconds(60)))
        let isReady = [59, 60].map { circuit.isReady(at: start + .seconds($0)) }
        #expect(isReady == [false, true])
    }

    @Test func anAnswerResetsTheFailures() {
        var circuit = CircuitBreaker()
        for _ in 0..<4 { circuit.failed(.serverError, at: start) }
        #expect(circuit.succeeded() == nil)
        for _ in 0..<4 { #expect(circuit.failed(.serverError, at: start) == nil) }
    }

    @Test(arguments: [FailureClass.rateLimited, .unavailable, .malformed, .refused, .unauthenticated, .cancelled])
    func answersOfTheServerDoNotOpenIt(failureClass: FailureClass) {
        var circuit = CircuitBreaker()
        for _ in 0..<20 { #expect(circuit.failed(failureClass, at: start) == nil) }
        #expect(circuit.state == .closed)
    }

    @Test func oneProbeDecides() {
        var circuit = opened(by: .serverError)
        let later = start + .seconds(60)
        #expect(circuit.admit(at: later) == .probe)
        #expect(circuit.state == .halfOpen)
        #expect(circuit.admit(at: later) == .probing)
        #expect(circuit.failed(.serverError, at: later) == .open)
        #expect(circuit.admit(at: later + .seconds(59)) == .wait(until: later + .seconds(60)))
        #expect(circuit.admit(at: later + .seconds(60)) == .probe)
        #expect(circuit.succeeded() == .closed)
        #expect(circuit.admit(at: later + .seconds(60)) == .allowed)
        #expect(circuit.consecutiveFailures == 0)
    }

    @Test func aRefusedProbeClosesIt() {
        var circuit = opened(by: .serverError)
        _ = circuit.admit(at: start + .seconds(60))
        #expect(circuit.failed(.rateLimited, at: start + .seconds(60)) == .closed)
    }

    @Test func anAbandonedProbeIsRepeatedAtOnce() {
        var circuit = opened(by: .serverError)
        _ = circuit.admit(at: start + .seconds(60))
        #expect(circuit.failed(.cancelled, at: start + .seconds(61)) == .open)
        #expect(circuit.admit(at: start + .seconds(61)) == .probe)
    }

    @Test func aDeadNetworkIsProbedEveryFifteenSeconds() {
        var circuit = opened(by: .network)
        var now = start
        for _ in 0..<10 {
            #expect(circuit.admit(at: now) == .wait(until: now + .seconds(15)))
            now = now + .seconds(15)
            #expect(circuit.admit(at: now) == .probe)
            circuit.failed(.network, at: now)
        }
    }

    @Test func aClockSetBackDoesNotExtendTheWait() {
        var circuit = opened(by: .serverError)
        let earlier = start - .seconds(3600)
        #expect(circuit.admit(at: earlier) == .wait(until: earlier + .seconds(60)))
        #expect(circuit.admit(at: earlier + .seconds(60)) == .probe)
    }

    /// A poll only checks readiness until the circuit is ready.
    @Test func aClockSetBackDoesNotBlockReadinessChecks() {
        var circuit = CircuitBreaker()
        for _ in 0..<5 { circuit.failed(.timeout, at: start) }
        let earlier = start - .seconds(86_400)
        let isReady = [0, 59, 60].map { circuit.isReady(at: earlier + .seconds($0)) }
        #expect(isReady == [false, false, true])
    }

    @Test func sinksAreRetriedMoreSlowlyAndThenProbed() {
        var circuit = CircuitBreaker(policy: .sink)
        var now = start
        for wait in [1, 2, 4, 8] as [Int64] {
            #expect(circuit.unavailable(at: now) == nil)
            #expect(circuit.admit(at: now) == .wait(until: now + .seconds(wait)))
            now = now + .seconds(wait)
            #expect(circuit.admit(at: now) == .allowed)
        }
        #expect(circuit.unavailable(at: now) == .open)
        for wait in [5, 10, 20, 40, 60, 60] as [Int64] {
            #expect(circuit.admit(at: now) == .wait(until: now + .seconds(wait)))
            now = now + .seconds(wait)
            #expect(circuit.admit(at: now) == .probe)
            #expect(circuit.unavailable(at: now) == .open)
        }
    }

    @Test func statesHaveTheirMetricValues() {
        #expect(CircuitState.allCases.map(\.rawValue) == ["closed", "half_open", "open"])
        #expect(CircuitState.allCases.map(\.metricValue) == [0, 1, 2])
    }
}
