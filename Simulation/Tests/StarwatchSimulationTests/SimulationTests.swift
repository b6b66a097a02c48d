import StarwatchCore
import Testing

@testable import StarwatchSimulation

/// Promises of the agent in simulated worlds with faults, seed by seed.
@Suite struct SimulationTests {
    /// `scripts/simulate` runs more seeds.
    @Test(arguments: 0..<16 as Range<UInt64>)
    func everyPromiseHolds(seed: UInt64) async throws {
        var plan = SimulationPlan(seed: seed)
        plan.cycles = 80
        let result = try await Simulation.run(plan)
        #expect(result.violations.isEmpty, "scripts/simulate replay \(plan.arguments)")
    }

    /// `scripts/simulate --accounts 50` runs more of them.
    @Test(arguments: 0..<6 as Range<UInt64>)
    func everyPromiseHoldsForEachOfManyAccounts(seed: UInt64) async throws {
        var plan = SimulationPlan(seed: seed)
        plan.cycles = 80
        plan.accounts = 3
        let result = try await Simulation.run(plan)
        #expect(result.violations.isEmpty, "scripts/simulate replay \(plan.arguments)")
    }

    /// An agent refuses other plans, and would then poll nothing for any account.
    @Test func accountsCanHaveAllTheirPlans() {
        for seed in 0..<50 as Range<UInt64> {
            let settings = Settings(seed: seed, accounts: 3)
            #expect(PlanIDRule.problem(settings.plans, in: settings.dialect) == nil, "seed \(seed)")
        }
    }

    /// `scripts/simulate --accounts 50 --stores 5` runs more of them.
    @Test(arguments: 0..<4 as Range<UInt64>, [2, 5])
    func everyPromiseHoldsWhenSeveralProcessesShareTheAccounts(seed: UInt64, stores: Int) async throws {
        var plan = SimulationPlan(seed: seed)
        plan.cycles = 60
        (plan.accounts, plan.stores) = (3, stores)
        let result = try await Simulation.run(plan)
        #expect(result.violations.isEmpty, "scripts/simulate replay \(plan.arguments)")
    }

    @Test(arguments: [1, 5, 9] as [UInt64], [(0, 1), (3, 1), (3, 3)] as [(accounts: Int, stores: Int)])
    func theSameSeedIsTheSameRun(seed: UInt64, size: (accounts: Int, stores: Int)) async throws {
        var plan = SimulationPlan(seed: seed)
        plan.cycles = 60
        (plan.accounts, plan.stores) = size
        let first = try await Simulation.run(plan)
        let second = try await Simulation.run(plan)
        #expect(first.hash == second.hash)
        #expect(first.steps == second.steps)
    }

    @Test func differentSeedsAreDifferentRuns() async throws {
        var hashes: Set<UInt64> = []
        for seed in 0..<6 as Range<UInt64> {
            var plan = SimulationPlan(seed: seed)
            plan.cycles = 10
            hashes.insert(try await Simulation.run(plan).hash)
        }
        #expect(hashes.count == 6)
    }

    @Test func everyKindOfFaultHappens() async throws {
        let campaign = try await withThrowingTaskGroup(of: SimulationResult.self) { group in
            var campaign = Campaign()
            for seed in 0..<200 as Range<UInt64> where campaign.faults.count < FaultKind.allCases.count {
                var plan = SimulationPlan(seed: seed)
                plan.accounts = seed % 4 < 2 ? 2 : 0
                plan.stores = seed % 4 == 1 ? 2 : 1
                // Two at a time: at the end of a run of all tests, the others are over.
                if seed > 1, let result = try await group.next() { campaign.add(result) }
                group.addTask { [plan] in try await Simulation.run(plan) }
            }
            for try await result in group { campaign.add(result) }
            return campaign
        }
        #expect(FaultKind.allCases.filter { campaign.faults[$0] == nil } == [])
    }

    @Test func withoutFaultsNoneHappens() async throws {
        var plan = SimulationPlan(seed: 3)
        plan.without = Set(FaultKind.allCases)
        let result = try await Simulation.run(plan)
        #expect(result.faults.isEmpty)
        #expect(result.violations.isEmpty)
        #expect(result.cycles > 200)
        #expect(result.starts == 1)
    }
}
