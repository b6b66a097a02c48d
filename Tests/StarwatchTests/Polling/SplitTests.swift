import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct SplitTests {
    /// 1,500 plans take three requests of 38,000 bytes, or two of 1,000 plans.
    static let requests: [MockDialect: Int] = [.endorser: 3, .canonical: 2]

    private func publishFirstAndLast(_ world: World) -> [String] {
        let plans = world.mock.planIDs
        return world.mock.publish([MockChange(planID: plans[0]), MockChange(planID: plans[1499])])
    }

    @Test(arguments: MockDialect.allCases)
    func allPartsAreAsked(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1500) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = publishFirstAndLast(world)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            let requests = world.mock.requests(to: .plansChanged)
            // The request that found out the dialect asked about the smaller part.
            #expect(requests.count <= 3)
            for request in requests { #expect(request.body.count <= (dialect == .endorser ? 38_000 : 1_048_576)) }
            #expect(try world.announced.sorted() == ids)

            world.mock.forgetRequests()
            world.clock.advance(by: .seconds(900))
            let more = publishFirstAndLast(world)
            #expect(try await agent.runPoll(World.starred).new == 2)
            #expect(world.mock.requestCount(of: .plansChanged) == Self.requests[dialect])
            #expect(try world.announced.sorted() == (ids + more).sorted())
        }
    }

    @Test func whatTheRequestForTheDialectDidNotAskAboutIsAskedAfterIt() async throws {
        try await World.with(.canonical) { world in
            // 38,000 bytes hold fewer of such plans than the 1,000 of a canonical request.
            let plans = (0..<1200).map { String(repeating: "plan", count: 15) + "_\($0)" }
            world.mock.setPlanCatalogue(plans.map { MockPlan(id: $0, name: $0, issuerDID: World.key.rawValue) })
            let ids = world.mock.publish(plans[500..<1200].indices.map { MockChange(planID: plans[$0]) })
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(try await agent.runPoll(World.starred).new == ids.count)
            #expect(try await agent.rows([.acknowledged]).sorted() == ids)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func theCursorMovesOnlyWhenAllPartsWereRead(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1500) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = dialect == .endorser ? .endorser : .canonical
            }
            let ids = publishFirstAndLast(world)
            world.mock.script(.delay(.zero), .status(400), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(try await agent.state(of: world.did).fetchCursor == nil)
            #expect(try world.announced == [ids[0]])
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try await agent.state(of: world.did).fetchCursor != nil)
            #expect(try world.announced.sorted() == ids)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func theCursorMovesAlsoWhenTheLastPartHasNoChange(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1500) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = dialect == .endorser ? .endorser : .canonical
            }
            let ids = world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            world.clock.advance(by: .seconds(10))
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == ids[0])
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aPlanThatChangesDuringTheFirstRunIsFoundByTheNextCycle(dialect: MockDialect) async throws {
        try await World.with(dialect, clock: .waiting, plans: 1500) { world in
            let agent = try await world.agent(random: 0) {
                $0.server.dialect = dialect == .endorser ? .endorser : .canonical
            }
            let plans = world.mock.planIDs
            world.mock.publish([MockChange(planID: plans[0])])
            world.clock.advance(by: .seconds(600))
            world.mock.script(.delay(.zero), .rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            async let first = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            world.clock.advance(by: .seconds(10))
            let missed = world.mock.publish([MockChange(planID: plans[0])])
            world.clock.advance(by: .seconds(60))
            world.mock.publish([MockChange(planID: plans[1499])])
            world.clock.advance(by: .seconds(30))
            #expect(await first.outcome == .bootstrapped)

            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(try world.announced == missed)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aPlanThatChangesAfterItsPartWasReadIsFoundByTheNextCycle(dialect: MockDialect) async throws {
        try await World.with(dialect, clock: .waiting, plans: 1500) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = dialect == .endorser ? .endorser : .canonical
            }
            let plans = world.mock.planIDs
            world.mock.script(.delay(.zero), .rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            async let first = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            // The first part was read; now one of its plans changes, and later one of the last part.
            world.clock.advance(by: .seconds(10))
            let missed = world.mock.publish([MockChange(planID: plans[0])])
            world.clock.advance(by: .seconds(60))
            let seen = world.mock.publish([MockChange(planID: plans[1499])])
            world.clock.advance(by: .seconds(30))
            #expect(await first.outcome == .changed)
            _ = await agent.runtime.dispatcher.pass()
            #expect(try world.announced == seen)

            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(try world.announced == seen + missed)
        }
    }
}
