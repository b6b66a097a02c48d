import StarwatchCore
import Testing

@Suite struct PollGateTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func gate(_ change: (inout PollGate) -> Void = { _ in }) -> PollGate {
        var gate = PollGate(
            hasIdentity: true,
            hasStars: true,
            optedOut: false,
            notBefore: nil,
            circuitIsOpen: false,
            isUnderPressure: false
        )
        change(&gate)
        return gate
    }

    private func pressure(_ openRows: Int) -> Bool {
        PollGate.isUnderPressure(openRows: openRows, maxUndelivered: 1000, threshold: 0.8)
    }

    @Test func anOpenGateSkipsNothing() {
        #expect(gate().skip(at: now) == nil)
        #expect(gate { $0.notBefore = now }.skip(at: now) == nil)
        #expect(gate { $0.isUnderPressure = pressure(799) }.skip(at: now) == nil)
    }

    @Test func everyReasonIsReported() {
        let gates: [(SkipReason, PollGate)] = [
            (.noIdentity, gate { $0.hasIdentity = false }),
            (.optedOut, gate { $0.optedOut = true }), (.noStars, gate { $0.hasStars = false }),
            (.endpointMissing, gate { $0.lacksEndpoint = true }),
            (.backpressure, gate { $0.isUnderPressure = pressure(800) }),
            (.throttled, gate { $0.notBefore = now + .milliseconds(1) }),
            (.circuitOpen, gate { $0.circuitIsOpen = true }),
        ]
        for (reason, gate) in gates { #expect(gate.skip(at: now) == reason) }
        #expect(Set(gates.map(\.0)) == Set(SkipReason.allCases).subtracting([.overlap, .noToken]))
    }

    @Test func theMostFundamentalReasonComesFirst() {
        #expect(
            gate {
                $0.hasIdentity = false; $0.hasStars = false; $0.circuitIsOpen = true
            }.skip(at: now) == .noIdentity
        )
        #expect(
            gate {
                $0.isUnderPressure = pressure(1000); $0.notBefore = now + .seconds(1)
            }.skip(at: now) == .backpressure
        )
    }
}
