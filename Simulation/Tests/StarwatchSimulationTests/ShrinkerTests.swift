import Testing

@testable import StarwatchSimulation

/// Shrinking makes a failing run small enough to read.
@Suite struct ShrinkerTests {
    @Test func shrinkingKeepsTheFailureAndLeavesOutTheRest() async throws {
        var plan = SimulationPlan(seed: 0)
        plan.cycles = 40
        plan.defect = .tripleLimit
        var failing: SimulationResult?
        while failing == nil {
            let result = try await Simulation.run(plan)
            if result.violations.contains(where: { $0.guarantee == .requestLimit }) { failing = result }
            plan.seed += 1
        }
        let large = try #require(failing)
        let small = try await Shrinker().shrink(large.plan, breaking: .requestLimit)
        let result = try await Simulation.run(small)
        #expect(result.violations.contains { $0.guarantee == .requestLimit })
        #expect(small.cycles < large.plan.cycles)
        #expect(result.faults.values.reduce(0, +) <= large.faults.values.reduce(0, +))
        #expect(small.without.count > large.plan.without.count)
    }

    @Test func argumentsNameEverythingThatWasLeftOut() {
        var plan = SimulationPlan(seed: 7)
        plan.cycles = 20
        plan.limit = 3
        plan.without = [.reset, .crash]
        #expect(plan.arguments == "--seed 7 --cycles 20 --limit 3 --without crash,reset")
    }
}
