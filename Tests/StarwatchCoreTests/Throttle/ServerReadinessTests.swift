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

/// The waits of a server that are not the lateness of those who wait for it.
@Suite struct ServerWaitsTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func waits(_ seen: [(at: Int, ServerReadiness)]) -> ServerWaits {
        var waits = ServerWaits()
        for (at, readiness) in seen { waits.note(readiness, at: now + .seconds(at)) }
        return waits
    }

    private func until(_ seconds: Int) -> ServerReadiness { .waits(until: now + .seconds(seconds)) }

    private func waited(_ waits: ServerWaits, since: Int, now at: Int) -> Duration {
        waits.waited(since: now + .seconds(since), now: now + .seconds(at))
    }

    @Test func aWaitCountsUntilItsEndAlsoIfNobodyLooked() {
        let waits = waits([(0, until(60)), (90, .ready)])
        #expect(waited(waits, since: -10, now: 100) == .seconds(60))
        #expect(waited(waits, since: 40, now: 100) == .seconds(20))
        #expect(waited(waits, since: 70, now: 100) == .zero)
    }

    /// Otherwise nobody would be late at a server that throttles again and again.
    @Test func theTimeBetweenTwoWaitsCounts() {
        let waits = waits([(0, until(60)), (60, .ready), (100, until(160)), (160, .ready)])
        #expect(waited(waits, since: 0, now: 160) == .seconds(120))
    }

    @Test func aWaitWithoutAKnownEndCountsWhileItIsSeen() {
        let waits = waits([(0, .waits(until: nil)), (30, .waits(until: nil)), (31, .probe), (50, .ready)])
        #expect(waited(waits, since: 0, now: 50) == .seconds(31))
    }

    @Test func oneThatFollowsAtOnceIsAnother() {
        let waits = waits([(0, until(60)), (90, until(120)), (130, .ready)])
        #expect(waited(waits, since: 0, now: 130) == .seconds(90))
    }

    @Test func aClockThatWasSetBackEndsAll() {
        let waits = waits([(0, until(60)), (60, .ready), (-3600, .ready)])
        #expect(waited(waits, since: -3600, now: 60) == .zero)
    }

    @Test func theirNumberIsBounded() {
        let waits = waits((0..<1000).flatMap { [($0 * 10, until($0 * 10 + 5)), ($0 * 10 + 5, .ready)] })
        #expect(waited(waits, since: 0, now: 10_000) == .seconds(64 * 5))
    }
}
