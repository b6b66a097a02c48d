import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Claims that anybody can write. None of them stops a poll.
@Suite struct HostileClaimTests {
    private static let offers = "offers_to_me"

    static let claims = [
        #"{"extra":\#(String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000))}"#,
        #"{"extra":[\#(String(repeating: "0,", count: 11_000))0]}"#,
        #"{"data":[[[1]]],"claim":{"claim":{"name":[["x"]]}},"location":{"geo":[]},"hitLimit":true,"\ud800":1}"#,
    ]

    private func agent(_ world: World) async throws -> Agent {
        try await world.agent {
            $0.useTokens(in: world.folder)
            var poll = PollOptions(name: PollName(Self.offers)!, kind: .offersToMe)
            poll.bootstrap = .beginning
            $0.polls[0].bootstrap = .beginning
            $0.polls.append(poll)
        }
    }

    @Test(arguments: MockDialect.allCases, claims)
    func anOfferWithAnyClaimIsToldWithTheOthers(dialect: MockDialect, claim: String) async throws {
        try await World.with(dialect) { world in
            let agent = try await agent(world)
            var ids = world.mock.publishOffers(count: 2, to: world.did.rawValue)
            ids.append(world.mock.publishOffer(claim: claim, to: world.did.rawValue))
            ids += world.mock.publishOffers(count: 2, to: world.did.rawValue)
            #expect(try await agent.runPoll(Self.offers).outcome == "changed")
            #expect(try world.announced.sorted() == ids)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func anOfferWithALongHandleIsToldWithTheOthers(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await agent(world)
            let handle = "https://other.example/" + String(repeating: "x", count: 3000)
            let hostile = world.mock.publishOffer(handleID: handle, to: world.did.rawValue)
            let ids = world.mock.publishOffers(count: 2, to: world.did.rawValue)
            #expect(try await agent.runPoll(Self.offers).outcome == "changed")
            #expect(try world.announced.sorted() == [hostile] + ids)
        }
    }

    @Test(arguments: MockDialect.allCases, claims)
    func aPlanEditedTwiceWithAnyClaimIsToldWithTheOthers(dialect: MockDialect, claim: String) async throws {
        try await World.with(dialect) { world in
            let agent = try await agent(world)
            let plans = world.mock.planIDs
            var ids = world.mock.publish([MockChange(planID: plans[0], claim: claim)])
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            world.clock.advance(by: .seconds(900))
            // The claim is now the one before the change.
            ids += world.mock.publish([MockChange(planID: plans[0], claim: claim), MockChange(planID: plans[1])])
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == ids)
        }
    }
}

/// Pages with items that are needed and invalid, or that cannot be read.
@Suite struct InvalidItemTests {
    private func failing(_ agent: Agent, _ count: Int) async throws {
        for _ in 0..<count { #expect(try await agent.runPoll(World.starred).outcome == "failed") }
    }

    /// An agent that is past its bootstrap, in a world 15 minutes later.
    private func started(_ world: World, _ change: (inout PollOptions) -> Void = { _ in }) async throws -> Agent {
        let agent = try await world.agent { change(&$0.polls[0]) }
        #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
        world.clock.advance(by: .seconds(900))
        return agent
    }

    @Test(arguments: MockDialect.allCases)
    func theThirdRejectionInARowSetsTheItemAsideAndTellsTheOthers(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await started(world)
            let ids = world.mock.publish(count: 3)
            world.mock.setStickyFault(.schemaViolation(.nullHandleID), at: .plansChanged)
            let before = try await agent.state(of: world.did)
            try await failing(agent, 2)
            #expect(try await agent.state(of: world.did).fetchCursor == before.fetchCursor)
            #expect(try await agent.rows(Set(OutboxState.allCases)).isEmpty)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced.count == 2)
            let entry = try #require(
                try await agent.perform(ControlAPI.listQuarantine, QuarantineQuery()).entries.first
            )
            let bad = dialect == .canonical ? ids[0] : ids[2]
            #expect(entry.jwtID == bad && entry.issues.map(\.path).first?.hasSuffix("handleId") == true)
            #expect(await agent.state().reasons.contains("quarantined"))
            // The cursor passes the item, also if it is the newest.
            #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == ids.last)
            #expect(await agent.page()["starwatch_ledger_imbalance_rows", ["law": "fetched"]] == 0)
        }
    }

    @Test func thirdCountsOverRestartsAndEndsWithACleanPage() async throws {
        try await World.with(.canonical) { world in
            var agent = try await started(world)
            world.mock.publish(count: 2)
            world.mock.setStickyFault(.schemaViolation(.nullHandleID), at: .plansChanged)
            try await failing(agent, 1)
            agent = try await world.agent()
            try await failing(agent, 1)
            world.mock.clearFaults()
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            // A rejection after a clean page is the first again.
            world.clock.advance(by: .seconds(900))
            world.mock.publish(count: 2)
            world.mock.setStickyFault(.schemaViolation(.nullHandleID), at: .plansChanged)
            try await failing(agent, 1)
            agent = try await world.agent()
            try await failing(agent, 1)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
        }
    }

    /// Otherwise a new hostile claim every few cycles would hold the poll up.
    @Test func whileItemsAreInvalidTheNextOneIsSetAsideAtOnce() async throws {
        try await World.with(.canonical) { world in
            let agent = try await started(world)
            world.mock.publish(count: 2)
            world.mock.setStickyFault(.schemaViolation(.nullHandleID), at: .plansChanged)
            try await failing(agent, 2)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            world.clock.advance(by: .seconds(900))
            let ids = world.mock.publish(count: 2)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced.last == ids.last)
        }
    }

    @Test(arguments: [(QuarantinePolicy.never, Validation.lenient), (.standard, .strict)])
    func neverSetsNothingAside(policy: QuarantinePolicy, validation: Validation) async throws {
        try await World.with(.canonical) { world in
            let agent = try await started(world) { ($0.quarantineInvalid, $0.validation) = (policy, validation) }
            world.mock.publish(count: 2)
            world.mock.setStickyFault(.schemaViolation(.nullHandleID), at: .plansChanged)
            try await failing(agent, 5)
            #expect(try await agent.perform(ControlAPI.listQuarantine, QuarantineQuery()).entries.isEmpty)
        }
    }

    @Test(arguments: MockDialect.allCases, [0, 3, 6])
    func anItemThatMakesItsPageUnreadableIsFoundAndTheOthersAreTold(dialect: MockDialect, bad: Int) async throws {
        try await World.with(dialect) { world in
            let agent = try await started(world)
            var ids: [String] = []
            for _ in 0..<7 {
                ids += world.mock.publish(count: 1)
                world.clock.advance(by: .seconds(2))
            }
            // Nothing can appear late any more, so that the next cycle fetches no overlap.
            world.clock.advance(by: .seconds(60))
            world.mock.setStickyFault(.unreadableItem(ids[bad]), at: .plansChanged)
            try await failing(agent, 2)
            #expect(try world.announced.isEmpty)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced.sorted() == ids.filter { $0 != ids[bad] })
            let entry = try #require(
                try await agent.perform(ControlAPI.listQuarantine, QuarantineQuery()).entries.first
            )
            #expect(entry.jwtID == nil && entry.issues == [.init(path: "$.data[?]", problem: "unreadable")])
            // The next change is told at once. Ascending pages always have an overlap, here with the item if it is last.
            world.clock.advance(by: .seconds(900))
            let next = world.mock.publish(count: 1)
            world.mock.forgetRequests()
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(try world.announced.last == next.last)
            let isInOverlap = dialect == .canonical && bad == 6
            #expect(isInOverlap || world.mock.requestCount(of: .plansChanged) == 1)
        }
    }

    /// Otherwise a server with a low limit would never let a search end.
    @Test(arguments: MockDialect.allCases)
    func aSearchThatALongWaitInterruptsContinues(dialect: MockDialect) async throws {
        func requestsOfTheLastCycle(isInterrupted: Bool) async throws -> Int {
            var count = 0
            try await World.with(dialect) { world in
                let agent = try await started(world)
                // Items of the same moment could not be told from the unreadable one.
                let ids = (0..<7).flatMap { _ in
                    world.clock.advance(by: .seconds(2))
                    return world.mock.publish(count: 1)
                }
                world.clock.advance(by: .seconds(60))
                world.mock.setStickyFault(.unreadableItem(ids[3]), at: .plansChanged)
                try await failing(agent, 2)
                if isInterrupted {
                    for _ in 0..<8 { world.mock.script(.unreadableItem(ids[3]), at: .plansChanged) }
                    world.mock.script(.rateLimited(retryAfter: .seconds(600)), at: .plansChanged)
                    #expect(try await agent.runPoll(World.starred).outcome == "deferred")
                    world.clock.advance(by: .seconds(601))
                }
                world.mock.forgetRequests()
                #expect(try await agent.runPoll(World.starred).outcome == "changed")
                count = world.mock.requestCount(of: .plansChanged)
            }
            return count
        }
        let whole = try await requestsOfTheLastCycle(isInterrupted: false)
        #expect(try await requestsOfTheLastCycle(isInterrupted: true) < whole - 3)
    }

    /// The first page of an unknown server tells its dialect.
    @Test(arguments: MockDialect.allCases)
    func anUnreadableItemOnTheFirstPageOfAllStopsNoPoll(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = (0..<3).flatMap { _ in
                world.clock.advance(by: .seconds(2))
                return world.mock.publish(count: 1)
            }
            world.clock.advance(by: .seconds(60))
            world.mock.setStickyFault(.unreadableItem(ids[1]), at: .plansChanged)
            try await failing(agent, 2)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced.sorted() == [ids[0], ids[2]])
            world.clock.advance(by: .seconds(900))
            let next = world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(try world.announced.last == next.last)
        }
    }

    /// A page that is too long is read in parts.
    @Test(arguments: MockDialect.allCases)
    func aPageAboveTheLimitIsReadInParts(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 40) { world in
            let agent = try await world.agent { $0.server.maxResponseBytes = 8192 }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            var ids: [String] = []
            for _ in 0..<40 {
                ids += world.mock.publish(count: 1)
                world.clock.advance(by: .seconds(3))
            }
            try await failing(agent, 2)
            for _ in 0..<4 { _ = try await agent.runPoll(World.starred) }
            #expect(try world.announced.sorted() == ids)
            #expect(try await agent.perform(ControlAPI.listQuarantine, QuarantineQuery()).entries.isEmpty)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aServerThatBreaksEveryAnswerLosesNothing(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await started(world)
            let ids = world.mock.publish(count: 3)
            world.mock.setStickyFault(.malformedJSON, at: .plansChanged)
            try await failing(agent, 5)
            #expect(try await agent.perform(ControlAPI.listQuarantine, QuarantineQuery()).entries.isEmpty)
            world.mock.clearFaults()
            #expect(try await agent.runPoll(World.starred).new == 3)
            #expect(try world.announced == ids)
        }
    }
}
