import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// The projects of offers and gifts, and their names, compared with the claims.
@Suite struct ClaimedPlanTests {
    private static let (giver, taker) = (
        "did:ethr:0x00000000000000000000000000000000000000c1", "did:ethr:0x00000000000000000000000000000000000000c2"
    )
    private static let (offers, gives) = ("offers_to_starred", "gives_to_my_projects")

    private func start(
        _ world: World,
        _ kind: PollKind,
        _ change: (inout AgentOptions) -> Void = { _ in }
    ) async throws -> Agent {
        try world.folder.write(World.ethrKey, to: "key")
        return try await world.agent { options in
            if world.mock.options.dialect == .endorser {
                (options.auth.kind, options.auth.keyFile) = (.didKey, world.folder.path("key"))
            } else {
                options.useTokens(in: world.folder)
            }
            options.polls[0].bootstrap = .beginning
            options.polls.append(PollOptions(name: PollName(kind.rawValue)!, kind: kind))
            change(&options)
        }
    }

    /// The changes of a poll that the sink has got, by claim.
    private func announced(_ poll: String, in world: World) throws -> [String: NotificationMessage.Item] {
        let data = FileManager.default.contents(atPath: world.folder.path("sink.jsonl")) ?? Data()
        let messages = data.split(separator: UInt8(ascii: "\n")).compactMap { NotificationMessage(json: Array($0)) }
        let items = messages.filter { $0.poll == poll }.flatMap(\.changes)
        return Dictionary(uniqueKeysWithValues: items.map { ($0.jwtID, $0) })
    }

    /// Whether each of these claims, which are for the plans in turn, was announced with the plan and its name.
    private func expect(_ claims: [String], _ poll: String, isNamed: Bool = true, in world: World) throws {
        let (items, plans) = (try announced(poll, in: world), world.mock.plans)
        #expect(items.count == claims.count)
        for (index, claim) in claims.enumerated() {
            let plan = plans[index % plans.count]
            #expect(items[claim]?.plan == plan.id, "claim \(index)")
            #expect(items[claim]?.name == (isNamed ? plan.name : nil), "claim \(index)")
        }
    }

    /// An agent whose first cycles have ended, and which knows three projects.
    private func watchOffers(in world: World) async throws -> Agent {
        let agent = try await start(world, .offersToStarred)
        world.mock.publish(count: 3)
        try await agent.runPoll(World.starred)
        try await agent.runPoll(Self.offers)
        world.clock.advance(by: .seconds(900))
        return agent
    }

    @Test(arguments: MockOfferLink.allCases, MockDialect.allCases)
    func anOfferToAStarredProjectHasTheProjectOfItsClaim(link: MockOfferLink, dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 3) { world in
            let agent = try await watchOffers(in: world)
            let offers = world.mock.publishOffers(count: 7, to: Self.taker, by: Self.giver, link: link)
            #expect(try await agent.runPoll(Self.offers).new == 7)
            try expect(offers, Self.offers, in: world)
        }
    }

    /// The last claim of a project that an offer names is an earlier one when the offer is read.
    @Test(arguments: MockDialect.allCases)
    func anOfferThatNamesAnEarlierClaimOfItsProjectHasTheProject(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 3) { world in
            let agent = try await watchOffers(in: world)
            let offers = world.mock.publishOffers(count: 6, to: Self.taker, by: Self.giver, link: .lastClaim)
            world.mock.publish(count: 3)
            try await agent.runPoll(World.starred)
            #expect(try await agent.runPoll(Self.offers).new == 6)
            try expect(offers, Self.offers, in: world)
        }
    }

    @Test func anOfferThatNamesTheFirstClaimOfAnUnseenProjectHasTheProject() async throws {
        try await World.with(.endorser, plans: 3) { world in
            let agent = try await start(world, .offersToStarred)
            try await agent.runPoll(Self.offers)
            world.clock.advance(by: .seconds(900))
            let offers = world.mock.publishOffers(count: 3, to: Self.taker, by: Self.giver, link: .lastClaim)
            #expect(try await agent.runPoll(Self.offers).new == 3)
            try expect(offers, Self.offers, isNamed: false, in: world)
        }
    }

    @Test(arguments: MockDialect.allCases, ["en", "pl", "ja"])
    func aGiftToAnOwnProjectNamesTheProject(dialect: MockDialect, locale: String) async throws {
        try await World.with(dialect, plans: 0) { world in
            let agent = try await start(world, .givesToMyProjects) { $0.delivery.locale = locale }
            let prefix = dialect == .endorser ? "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV3" : "plan_"
            world.mock.setPlanCatalogue([
                MockPlan(id: prefix + "0", name: "Garden", issuerDID: world.did.rawValue, agentDID: Self.taker),
                MockPlan(id: prefix + "1", name: "Barn", issuerDID: Self.taker, agentDID: world.did.rawValue),
            ])
            #expect(try await agent.runPoll(Self.gives).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            var gives = world.mock.publishGives(count: 4, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(Self.gives).new == 4)
            try expect(gives, Self.gives, in: world)
            world.clock.advance(by: .seconds(900))
            gives += world.mock.publishGives(count: 1, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(Self.gives).new == 1)
            try expect(gives, Self.gives, in: world)
            let data = try #require(FileManager.default.contents(atPath: world.folder.path("sink.jsonl")))
            let last = try #require(data.split(separator: UInt8(ascii: "\n")).last)
            #expect(NotificationMessage(json: Array(last))?.body.contains("Garden") == true)
        }
    }

    /// Anybody can name the account as the agent of any number of projects.
    @Test func theProjectsOfOthersAreLeftOutBeyondTheLimitAndThatIsSaidAndCounted() async throws {
        try await World.with(.endorser, plans: 0) { world in
            let agent = try await start(world, .givesToMyProjects) { options in
                options.server.dialect = .endorser
                options.log.level = .warning
            }
            let me = world.did.rawValue
            func plan(_ number: Int, issuer: String, agent: String) -> MockPlan {
                let id = "https://example.org/plans/\(number)"
                return MockPlan(id: id, name: "P\(number)", issuerDID: issuer, agentDID: agent)
            }
            world.mock.setPlanCatalogue(
                [plan(0, issuer: me, agent: Self.taker)] + (1...300).map { plan($0, issuer: Self.taker, agent: me) }
            )
            #expect(try await agent.runPoll(Self.gives).outcome == "bootstrapped")
            // Of the plans that it issued there is one page, and two of the others have the 99 newest and one more.
            #expect(world.mock.requestCount(of: .plans) == 3)
            #expect(world.mock.requestCount(of: .givesToPlans) == 1)
            world.clock.advance(by: .seconds(900))
            let gives = world.mock.publishGives(count: 301, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(Self.gives).new == 100)
            let items = try announced(Self.gives, in: world)
            #expect(Set(items.keys) == Set(gives.suffix(99) + [gives[0]]))
            #expect(items[gives[0]]?.name == "P0" && items[gives[300]]?.name == "P300")

            // It is logged once, and each cycle is counted.
            let lines = world.log.lines.filter { $0.contains(#""event":"poll.plans_left_out""#) }
            #expect(lines.count == 1 && lines.allSatisfy { $0.contains(#""project_count":100"#) })
            #expect(await agent.page()["starwatch_poll_plans_left_out_total", ["poll": Self.gives]] == 2)
            let status = await agent.topics.status.status().polls[Self.gives]
            #expect(status?.ownProjects == 100 && status?.projectsLeftOut == true)
            let story = try await agent.perform(ControlAPI.explain, gives[5])
            #expect(story.coverage?.last?.poll == Self.gives && story.coverage?.last?.reason == .passed)
            #expect(story.coverage?.last?.sentence.contains("asks for 100 projects") == true)

            world.mock.setPlanCatalogue([plan(0, issuer: me, agent: me)])
            try await agent.runPoll(Self.gives)
            let less = await agent.topics.status.status().polls[Self.gives]
            #expect(less?.ownProjects == 1 && less?.projectsLeftOut == nil)
            #expect(await agent.page()["starwatch_poll_plans_left_out_total", ["poll": Self.gives]] == 2)
        }
    }
}
