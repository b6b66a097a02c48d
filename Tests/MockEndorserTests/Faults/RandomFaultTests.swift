import Testing

@testable import MockEndorser

@Suite struct RandomFaultTests {
    @Test func everyKindOccursOnceBeforeAnyRepeats() {
        var faults = RandomFaults(rate: 1, seed: 7)
        let kinds = RandomFaults.kinds.count
        for round in 1...3 {
            for _ in 0..<kinds { #expect(faults.draw(for: .plansChanged) != nil) }
            #expect(faults.counts.count == kinds && faults.counts.values.allSatisfy { $0 == round })
        }
    }

    @Test func faultsFollowRateAndSeed() {
        func drawn(seed: UInt64) -> [Bool] {
            var faults = RandomFaults(rate: 0.01, seed: seed)
            return (0..<100_000).map { _ in faults.draw(for: .hook) != nil }
        }
        let first = drawn(seed: 1)
        // The expected number is 1,000; 150 is nearly five standard deviations.
        #expect((850...1150).contains(first.count { $0 }))
        #expect(drawn(seed: 1) == first && drawn(seed: 2) != first)
        var none = RandomFaults(rate: 0, seed: 1)
        #expect((0..<1000).allSatisfy { _ in none.draw(for: .time) == nil })
    }

    @Test func rateOfOneFailsEveryUnscriptedRequest() async throws {
        // The first fault of this seed ends the request, so the test can await it.
        try await TestWorld.run(.canonical, { ($0.randomFaults.rate, $0.randomFaults.seed) = (1, Self.seedOfAStatus) })
        { world in
            world.server.script(.status(418), at: .plansChanged)
            #expect(try await world.poll().status == 418)
            #expect(try await counts(world).isEmpty)
            let answer = try await world.poll()
            let counted = try await counts(world)
            #expect(counted.keys.first == "status_\(answer.status)" && counted.count == 1)
        }
    }

    private func counts(_ world: TestWorld) async throws -> [String: Any] {
        try await world.probe.get("/mock/state").object["random_faults"] as? [String: Any] ?? ["none": 0]
    }

    /// The first seed whose first fault is a plain status.
    private static let seedOfAStatus: UInt64 = (1...).first { seed in
        var faults = RandomFaults(rate: 1, seed: seed)
        guard case .status = faults.draw(for: .plansChanged) else { return false }
        return true
    }!
}
