import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

@Suite struct LateVisibilityTests {
    @Test(arguments: [(MockDialect.canonical, 4), (.endorser, 25)])
    func aChangeThatShowsLateIsFoundAndNothingIsAnnouncedTwice(dialect: MockDialect, age: Int) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            let late = world.mock.publish(count: 1, age: .seconds(age), visibleAfter: .seconds(10))
            let early = world.mock.publish(count: 2)
            #expect(late[0] < early[0])
            #expect(try await agent.runPoll(World.starred).new == 2)
            #expect(try world.announced == early)
            // The cursor stands above the identifier that is still to come.
            let cursor = try await agent.state(of: world.did).fetchCursor
            #expect(cursor?.rawValue == early.last)

            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(try world.announced == early + late)
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(900))
                #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            }
            #expect(try world.announced == early + late)
            #expect(try await agent.state(of: world.did).fetchCursor == cursor)
        }
    }

    /// It lies below the last one of the first page, and shows while the second is waited for.
    @Test func aChangeThatShowsLateDuringALongWalkIsFound() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = .canonical
            }
            let late = world.mock.publish(count: 1, age: .seconds(2), visibleAfter: .seconds(10))
            let early = world.mock.publish(count: Dialect.canonical.pageSize + 1)
            world.mock.script(.delay(.zero), .rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            async let cycle = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            world.clock.advance(by: .seconds(60))
            let new = world.mock.publish(count: 3)
            world.clock.advance(by: .seconds(40))
            #expect(await cycle.new == early.count + new.count)

            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(world.mock.acknowledgedIDs.sorted() == (late + early + new).sorted())
            // All is seen at one moment now, so that the cursor stands at the newest again.
            #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == new.last)
        }
    }

    @Test(arguments: [
        (nil, 0), ("Thu, 01 Jan 2026 12:00:00 GMT", 0), ("Thu, 01 Jan 2026 12:00:05 GMT", 0),
        ("Thu, 01 Jan 2026 11:59:00 GMT", -60), ("Thu, 01 Jan 1970 00:00:00 GMT", -3600), ("yesterday", 0),
        ("Thu, 01 Jan 2026 14:00:00 GMT", 7190),
    ])
    func anAnswerWasMadeWhenItSaysSoWithinAnHour(date: String?, seconds: Int) throws {
        let askedAt = try #require(Timestamp(iso8601: "2026-01-01T12:00:00Z"))
        let headers = HTTPHeaders(date.map { [("Date", $0)] } ?? [])
        let response = HTTPResponse(status: 204, headers: headers, body: [])
        let decoder = PageDecoder(dialect: .endorser, validation: .lenient, quarantine: false)
        let answer = try PageAnswer.read(response, askedAt: askedAt, by: decoder).get()
        #expect(answer.madeAt == askedAt + .seconds(seconds))
    }

    @Test func everyAnnouncedChangeIsAcknowledgedOnce() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            var ids: [String] = []
            for _ in 0..<5 {
                world.clock.advance(by: .seconds(3))
                ids += world.mock.publish(count: 2)
                _ = try await agent.runPoll(World.starred)
            }
            #expect(try world.announced == ids)
            #expect(world.mock.acknowledgedIDs == ids)
            #expect(try await agent.state(of: world.did).watermark?.rawValue == ids.last)
        }
    }

    @Test func nothingIsAnnouncedOfACycleDuringWhichThePersonOptsOut() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = .canonical
            }
            world.mock.publish(count: Dialect.canonical.pageSize + 1)
            world.mock.script(.delay(.zero), .rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            async let cycle = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            try await agent.setStarsOptedOut(true)
            world.clock.advance(by: .seconds(100))
            let result = await cycle
            #expect(result.outcome == .changed && result.new == Dialect.canonical.pageSize)
            #expect(try await agent.rows([.pending]).isEmpty)
            #expect(try await agent.rows([.suppressed]).count == Dialect.canonical.pageSize)
        }
    }

    @Test func aCycleDuringWhichThePersonOptsOutAndInAgainIsFinished() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = .canonical
            }
            world.mock.publish(count: 3)
            world.mock.script(.rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            async let cycle = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            try await agent.setStarsOptedOut(true)
            try await agent.setStarsOptedOut(false)
            world.clock.advance(by: .seconds(100))
            let result = await cycle
            #expect(result.outcome == .changed && result.new == 3)
        }
    }

    @Test func aFirstRunDuringWhichThePersonOptsOutIsStillToBeMade() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent(random: 0) { $0.server.dialect = .canonical }
            world.mock.script(.rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            async let cycle = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            try await agent.setStarsOptedOut(true)
            world.clock.advance(by: .seconds(100))
            #expect(await cycle.outcome == .unchanged)
            #expect(try await !agent.state(of: world.did).bootstrapped)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func whatChangesAfterItWasStarredDuringACycleIsFound(dialect: MockDialect) async throws {
        try await World.with(dialect, clock: .waiting) { world in
            let plans = world.mock.planIDs
            let agent = try await world.agent(random: 0) {
                $0.polls[0].bootstrap = .beginning
                $0.polls[0].planIDs = [plans[0]]
                $0.server.dialect = dialect == .endorser ? .endorser : .canonical
            }
            let before = world.mock.publish([MockChange(planID: plans[0])])
            #expect(try await agent.runPoll(World.starred).new == 1)
            world.clock.advance(by: .seconds(600))
            world.mock.script(.rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            async let cycle = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            // The request that waits asks about the former stars, and is answered with what is newest.
            _ = try await agent.changeStars(StarsChange(operation: .add, planIDs: [plans[1]]))
            world.clock.advance(by: .seconds(10))
            let first = world.mock.publish([MockChange(planID: plans[1])])
            world.clock.advance(by: .seconds(60))
            let second = world.mock.publish([MockChange(planID: plans[0])])
            world.clock.advance(by: .seconds(30))
            #expect(await cycle.outcome == .changed)

            world.clock.advance(by: .seconds(900))
            _ = try await agent.runPoll(World.starred)
            #expect(try world.announced.sorted() == before + first + second)
        }
    }
}
