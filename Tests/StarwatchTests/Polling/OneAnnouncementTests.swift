import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Each claim is announced once, whichever polls see it, and an account's own claims are not announced.
@Suite struct OneAnnouncementTests {
    private static let toMe = "offers_to_me"
    private static let toMine = "offers_to_my_projects"
    private static let polls = [World.starred, toMe, toMine]
    private static let neighbour = "did:ethr:0x00000000000000000000000000000000000000c1"

    private func with(
        _ dialect: MockDialect,
        announcesOwn: Bool = false,
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        // Every second plan is the owner's, so the only one is.
        try await World.with(dialect, plans: 1) { world in
            try world.folder.write(World.ethrKey, to: "key")
            let agent = try await world.agent { options in
                if dialect == .endorser {
                    // Without a token with its DID, an account owns no plans.
                    options.auth.kind = .didKey
                    options.auth.keyFile = world.folder.path("key")
                } else {
                    options.useTokens(in: world.folder)
                }
                options.delivery.announceOwn = announcesOwn
                options.polls[0].bootstrap = .beginning
                for (name, kind) in [(Self.toMe, PollKind.offersToMe), (Self.toMine, .offersToMyProjects)] {
                    var poll = PollOptions(name: PollName(name)!, kind: kind)
                    poll.bootstrap = .beginning
                    options.polls.append(poll)
                }
            }
            try await body(world, agent)
        }
    }

    private func runAll(_ agent: Agent) async throws -> [Int] {
        var found: [Int] = []
        for poll in Self.polls { found.append(try await agent.runPoll(poll).new) }
        return found
    }

    @Test(arguments: MockDialect.allCases)
    func anOfferToMeOnMyProjectIsAnnouncedOnceAndCountedByBothPolls(dialect: MockDialect) async throws {
        try await with(dialect) { world, agent in
            let offers = world.mock.publishOffers(count: 46, to: world.did.rawValue, by: Self.neighbour)
            #expect(try await runAll(agent) == [0, 46, 46])
            #expect(try world.announced.sorted() == offers.sorted())
            for name in [Self.toMe, Self.toMine] {
                let stream = StreamKey(account: world.did, server: agent.runtime.account.server, poll: PollName(name)!)
                let ledger = try await agent.store.status.ledger(stream)
                #expect(ledger.fetched == 46 && ledger.new == 46)
                #expect(ledger.suppressed == (name == Self.toMe ? 0 : 46))
                #expect(try await agent.store.acknowledgements.watermark(stream)?.rawValue == offers.last)
            }
            #expect(await agent.page()["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
            world.clock.advance(by: .seconds(900))
            #expect(try await runAll(agent) == [0, 0, 0])

            let rows = try await agent.outboxList(OutboxQuery()).filter { $0.poll == Self.toMine }
            try #require(rows.count == 46)
            #expect(rows.allSatisfy { $0.reason == .announced && $0.announcedBy == Self.toMe })
            let story = try await agent.perform(ControlAPI.explain, "\(rows[0].id)")
            let step = story.steps.last { $0.step == .suppressed }
            #expect(step?.reason == "announced")
            #expect(step?.sentence == "Poll offers_to_me announces the same claim.")
        }
    }

    @Test(arguments: MockDialect.allCases)
    func ownOffersAndChangesAreQuietUnlessTheConfigurationSaysOtherwise(dialect: MockDialect) async throws {
        for announcesOwn in [false, true] {
            try await with(dialect, announcesOwn: announcesOwn) { world, agent in
                let me = world.did.rawValue
                let plan = world.mock.planIDs[0]
                var change = MockChange(planID: plan)
                change.issuerDID = me
                let edit = world.mock.publish([change])[0]
                // An offer to my own project, and one to me on it.
                let offers =
                    world.mock.publishOffers(count: 1, to: Self.neighbour, by: me)
                    + world.mock.publishOffers(count: 1, to: me, by: me)
                #expect(try await runAll(agent) == [1, 1, 2])
                #expect(try world.announced.sorted() == (announcesOwn ? [edit] + offers : []).sorted())
                let rows = try await agent.outboxList(OutboxQuery())
                let own = rows.filter { $0.reason == .own }
                #expect(own.count == (announcesOwn ? 0 : 4))
                guard !announcesOwn else { return }
                let step = try await agent.perform(ControlAPI.explain, edit).steps.last { $0.step == .suppressed }
                #expect(step?.reason == "own")
                #expect(step?.sentence == "Your own claim; set delivery.announce_own: true to be told.")
                #expect(try await agent.state(of: world.did).watermark?.rawValue == edit)
                // Another person's change of the same plan is news.
                world.clock.advance(by: .seconds(60))
                let other = world.mock.publish([MockChange(planID: plan)])[0]
                _ = try await runAll(agent)
                #expect(try world.announced == [other])
            }
        }
    }

    @Test func twoPollsOfOneKindAnnounceAChangeOnce() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { options in
                options.polls[0].bootstrap = .beginning
                var second = options.polls[0]
                second.name = PollName("second")!
                options.polls.append(second)
            }
            let changes = world.mock.publish(count: 3)
            #expect(try await agent.runPoll("second").new == 3)
            #expect(try await agent.runPoll(World.starred).new == 3)
            #expect(try world.announced.sorted() == changes)
        }
    }

    /// A server that keeps one row for each plan names the claim before, if it speaks the canonical dialect.
    @Test func changesReplacedBetweenTwoPollsAreCountedWhereTheServerTells() async throws {
        try await World.with(.canonical, plans: 1, mock: { $0.keepsOneRowPerPlan = true }) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            func superseded() async -> Double {
                await agent.page()["starwatch_poll_superseded_total", ["poll": World.starred]] ?? 0
            }
            world.mock.publish(count: 2)
            #expect(try await agent.runPoll(World.starred).new == 1)
            // Nothing is known of the plan before the first poll.
            #expect(await superseded() == 0)
            world.clock.advance(by: .seconds(60))
            world.mock.publish(count: 2)
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(await superseded() == 1)
            world.clock.advance(by: .seconds(60))
            world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(await superseded() == 1)
        }
    }
}
