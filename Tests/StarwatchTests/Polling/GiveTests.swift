import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Gifts, and offers to starred projects.
@Suite struct GiveTests {
    static let kinds: [PollKind] = [.offersToStarred, .givesToMe, .givesToMyProjects, .givesToStarred]
    private static let (giver, taker) = (
        "did:ethr:0x00000000000000000000000000000000000000c1", "did:ethr:0x00000000000000000000000000000000000000c2"
    )

    /// Starts an agent that polls these kinds too.
    private func start(
        _ world: World,
        _ kinds: [PollKind],
        dependencies: AgentDependencies = AgentDependencies(),
        _ change: (inout AgentOptions) -> Void = { _ in }
    ) async throws -> Agent {
        try world.folder.write(World.ethrKey, to: "key")
        return try await world.agent(dependencies: dependencies) { options in
            if world.mock.options.dialect == .endorser {
                options.auth.kind = .didKey
                options.auth.keyFile = world.folder.path("key")
            } else {
                options.useTokens(in: world.folder)
            }
            options.polls += kinds.map { PollOptions(name: PollName($0.rawValue)!, kind: $0) }
            change(&options)
        }
    }

    /// Publishes what polls of a kind read: gifts to the account, or gifts and offers to others for its projects.
    private func publish(_ count: Int, for kind: PollKind, in world: World) -> [String] {
        switch kind {
        case .offersToStarred: world.mock.publishOffers(count: count, to: Self.taker, by: Self.giver)
        case .givesToMe: world.mock.publishGives(count: count, to: world.did.rawValue, by: Self.giver)
        default: world.mock.publishGives(count: count, to: Self.taker, by: Self.giver)
        }
    }

    @Test(arguments: kinds, MockDialect.allCases)
    func theFirstPollAnnouncesNothingAndALaterOneIsAnnouncedOnceAlsoAfterARestart(
        kind: PollKind,
        dialect: MockDialect
    ) async throws {
        // Every second plan is the owner's, so the only one is.
        try await World.with(dialect, plans: 1) { world in
            var agent = try await start(world, [kind])
            _ = publish(3, for: kind, in: world)
            #expect(try await agent.runPoll(kind.rawValue).outcome == "bootstrapped")
            #expect(try world.announced.isEmpty)

            world.clock.advance(by: .seconds(900))
            let news = publish(1, for: kind, in: world)
            let report = try await agent.runPoll(kind.rawValue)
            #expect(report.new == 1 && report.acknowledged == 1)
            #expect(try world.announced == news)

            agent = try await start(world, [kind])
            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(kind.rawValue).new == 0)
            #expect(try world.announced == news)
            // Servers have no acknowledgement of offers and gifts.
            #expect(world.mock.acknowledgedIDs.isEmpty)
            let stream = StreamKey(
                account: world.did,
                server: agent.runtime.account.server,
                poll: try #require(PollName(kind.rawValue))
            )
            #expect(try await agent.store.acknowledgements.watermark(stream)?.rawValue == news.last)
        }
    }

    @Test(arguments: kinds, MockDialect.allCases)
    func theyAreFetchedPageByPageByWhatTheServerAsksFor(kind: PollKind, dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1) { world in
            let agent = try await start(world, [kind]) { $0.polls[1].bootstrap = .beginning }
            let ids = publish(120, for: kind, in: world)
            #expect(try await agent.runPoll(kind.rawValue).new == 120)
            #expect(try world.announced.sorted() == ids.sorted())

            let requests = world.mock.requests { $0.path == kind.endpoint.path }
            #expect(requests.count >= 2)
            let expected: Set<String> =
                kind == .givesToMe ? ["recipientDid", "afterId", "beforeId"] : ["planIds", "afterId", "beforeId"]
            for request in requests {
                #expect(request.method == "GET" && request.body.isEmpty)
                #expect(request.header("Authorization")?.hasPrefix("Bearer ") == true)
                #expect(names(of: request).isSubset(of: expected), "\(request.query ?? "")")
                #expect(names(of: request).contains(kind == .givesToMe ? "recipientDid" : "planIds"))
            }
            let plans = world.mock.requests(to: .plans)
            #expect(plans.map(names) == (kind == .givesToMyProjects ? [["issuerDid"], ["agentDid"]] : []))
        }
    }

    private func names(of request: RecordedRequest) -> Set<String> {
        Set((request.query ?? "").split(separator: "&").map { String($0.prefix { $0 != "=" }) })
    }

    @Test(arguments: [PollKind.givesToStarred, .givesToMyProjects])
    func manyProjectsAreAskedForInRequestsThatProxiesAccept(kind: PollKind) async throws {
        try await World.with(.endorser, plans: 300) { world in
            let agent = try await start(world, [kind]) { options in
                options.polls[1].bootstrap = .beginning
                options.limits.maxOwnPlans = 150
            }
            let gives = world.mock.publishGives(count: 300, to: Self.taker, by: Self.giver)
            // Every second plan is the account's own.
            let expected = kind == .givesToStarred ? gives : stride(from: 0, to: 300, by: 2).map { gives[$0] }
            #expect(try await agent.runPoll(kind.rawValue).new == expected.count)
            #expect(try world.announced.sorted() == expected.sorted())
            let requests = world.mock.requests(to: .givesToPlans)
            #expect(requests.allSatisfy { ($0.query ?? "").utf8.count < 7200 })
            #expect(Set(requests.compactMap(plans)).count == (kind == .givesToStarred ? 4 : 2))
            // The pages of the account's own plans go by the numbers of their rows.
            let pages = world.mock.requests(to: .plans).map { names(of: $0).contains("beforeId") }
            let walk = [false, true, true, true]
            #expect(pages == (kind == .givesToStarred ? [] : walk + walk))
        }
    }

    private func plans(of request: RecordedRequest) -> String? {
        request.query?.split(separator: "&").first { $0.hasPrefix("planIds=") }.map(String.init)
    }

    @Test func anAccountWithoutProjectsAsksForNoGiftsAndHearsOfThoseToItsFirst() async throws {
        try await World.with(.endorser, plans: 0) { world in
            let agent = try await start(world, [.givesToMyProjects]) { $0.server.dialect = .endorser }
            let poll = "gives_to_my_projects"
            #expect(try await agent.runPoll(poll).outcome == "bootstrapped")
            #expect(try await agent.runPoll(poll).outcome == "unchanged")
            #expect(world.mock.requestCount(of: .givesToPlans) == 0)
            let id = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
            world.mock.setPlanCatalogue([MockPlan(id: id, name: "Garden", issuerDID: world.did.rawValue)])
            let gives = world.mock.publishGives(count: 1, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(poll).new == 1)
            #expect(try world.announced == gives)
        }
    }

    @Test(arguments: [(4_999, false), (5_001, true)])
    func projectsBeyondTheLargestLimitAreLeftOutAndTheLogSaysSo(count: Int, isCut: Bool) async throws {
        try await World.with(.endorser, plans: 0, mock: { $0.requestsPerMinute = 1_000 }) { world in
            let agent = try await start(world, [.givesToMyProjects]) { options in
                options.server.dialect = .endorser
                options.limits.requestsPerMinute = 1_000
                options.limits.maxOwnPlans = 5_000
                options.log.level = .warning
            }
            let me = world.did.rawValue
            // Anybody can name the account as the agent.
            let plans = (0..<count).map { MockPlan(id: "p\($0)", name: "P", issuerDID: Self.taker, agentDID: me) }
            world.mock.setPlanCatalogue(plans)
            #expect(try await agent.runPoll("gives_to_my_projects").outcome == "bootstrapped")
            let lines = world.log.lines.filter { $0.contains(#""event":"poll.plans_left_out""#) }
            // One page of the plans that it issued, and those of the plans that it is the agent of.
            #expect(world.mock.requestCount(of: .plans) == (isCut ? 102 : 101))
            #expect(lines.count == (isCut ? 1 : 0))
            #expect(lines.allSatisfy { $0.contains(#""project_count":5000"#) })
        }
    }

    @Test(arguments: MockDialect.allCases)
    func theFirstProjectsGiftsAreNewsAlsoIfNoAnswerHasShownTheDialect(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 0) { world in
            let agent = try await start(world, [.givesToMyProjects])
            let poll = "gives_to_my_projects"
            #expect(try await agent.runPoll(poll).outcome == "bootstrapped")
            #expect(try await agent.runPoll(poll).outcome == "unchanged")
            #expect(agent.runtime.account.gate.known.dialect == nil)
            #expect(world.mock.requestCount(of: .givesToPlans) == 0)
            world.clock.advance(by: .seconds(7200))
            world.mock.setPlanCatalogue([MockPlan(id: "garden", name: "Garden", issuerDID: world.did.rawValue)])
            let gives = world.mock.publishGives(count: 1, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(poll).new == 1)
            #expect(try world.announced == gives)
        }
    }

    @Test(arguments: MockDialect.allCases, [false, true])
    func giftsFromBeforeAProjectWasTheAccountsAreNoNews(dialect: MockDialect, isDialectKnown: Bool) async throws {
        try await World.with(dialect, plans: 0) { world in
            let agent = try await start(world, [.givesToMyProjects]) { options in
                if isDialectKnown { options.server.dialect = dialect == .endorser ? .endorser : .canonical }
            }
            let poll = "gives_to_my_projects"
            world.mock.setPlanCatalogue([MockPlan(id: "garden", name: "Garden", issuerDID: Self.taker)])
            world.mock.publishGives(count: 3, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(poll).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(7200))
            #expect(try await agent.runPoll(poll).outcome == "unchanged")
            world.clock.advance(by: .seconds(7200))
            world.mock.setPlanCatalogue([MockPlan(id: "garden", name: "Garden", issuerDID: world.did.rawValue)])
            #expect(try await agent.runPoll(poll).new == 0)
            world.clock.advance(by: .seconds(900))
            let gives = world.mock.publishGives(count: 1, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(poll).new == 1)
            #expect(try world.announced == gives)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aKillBeforeTheEndOfTheFirstCycleMakesNoOldGiftsNews(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 0) { world in
            let (fault, poll) = (StoreFault(), "gives_to_my_projects")
            world.mock.setPlanCatalogue([MockPlan(id: "garden", name: "Garden", issuerDID: Self.taker)])
            world.mock.publishGives(count: 3, to: Self.taker, by: Self.giver)
            world.clock.advance(by: .seconds(900))
            var agent = try await start(world, [.givesToMyProjects], dependencies: fault.dependencies)
            fault.fail(.finishCycle, after: .bootstrap)
            _ = try await agent.runPoll(poll)
            agent = try await start(world, [.givesToMyProjects])
            world.mock.setPlanCatalogue([MockPlan(id: "garden", name: "Garden", issuerDID: world.did.rawValue)])
            // It does not begin again.
            #expect(try await agent.runPoll(poll).outcome == "unchanged")
            world.clock.advance(by: .seconds(900))
            let gives = world.mock.publishGives(count: 1, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(poll).new == 1)
            #expect(try world.announced == gives)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func giftsToAProjectThatBecameTheAccountsDuringACycleAreNews(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 0) { world in
            func plan(_ id: String) -> MockPlan {
                MockPlan(id: id, name: id, issuerDID: world.did.rawValue, agentDID: Self.taker)
            }
            world.mock.setPlanCatalogue([plan("garden")])
            world.mock.publishGives(count: 1, to: Self.taker, by: Self.giver)
            let agent = try await start(world, [.givesToMyProjects])
            let poll = "gives_to_my_projects"
            #expect(try await agent.runPoll(poll).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))

            // The request for the projects that the account issued is answered, and the next one waits.
            world.mock.script(.delay(.zero), .status(500), at: .plans)
            world.clock.setMode(.waiting)
            async let report = agent.runPoll(poll)
            await world.clock.sleepers(atLeast: 1)
            world.clock.advance(by: .seconds(1))
            world.mock.setPlanCatalogue([plan("garden"), plan("barn")])
            let gives = world.mock.publishGives(count: 2, to: Self.taker, by: Self.giver)
            world.clock.setMode(.jumping)
            world.clock.advance(by: .seconds(30))
            #expect(try await report.new == 1)

            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(poll).new == 1)
            #expect(try world.announced.sorted() == gives.sorted())
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aGiftThatThreePollsSeeIsAnnouncedOnceAndAnOwnOneNotAtAll(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1) { world in
            let kinds: [PollKind] = [.givesToMe, .givesToMyProjects, .givesToStarred]
            let agent = try await start(world, kinds) { options in
                for index in 1...3 { options.polls[index].bootstrap = .beginning }
            }
            let me = world.did.rawValue
            let gives = world.mock.publishGives(count: 2, to: me, by: Self.giver)
            world.mock.publishGives(count: 1, to: me, by: me)
            for kind in kinds { #expect(try await agent.runPoll(kind.rawValue).new == 3) }
            #expect(try world.announced.sorted() == gives.sorted())
        }
    }

    @Test(arguments: [PollKind.givesToStarred, .offersToStarred])
    func whatIsOlderThanAStarIsNoNews(kind: PollKind) async throws {
        try await World.with(.endorser, plans: 2) { world in
            let agent = try await start(world, [kind])
            let late = world.mock.planIDs[1]
            try await agent.changeStars(StarsChange(operation: .remove, planIDs: [late]))
            #expect(try await agent.runPoll(kind.rawValue).outcome == "bootstrapped")
            _ = publish(2, for: kind, in: world)
            world.clock.advance(by: .seconds(7200))
            #expect(try await agent.runPoll(kind.rawValue).new == 1)
            world.clock.advance(by: .seconds(7200))
            try await agent.changeStars(StarsChange(operation: .add, planIDs: [late]))
            #expect(try await agent.runPoll(kind.rawValue).new == 0)
            world.clock.advance(by: .seconds(7200))
            _ = publish(2, for: kind, in: world)
            #expect(try await agent.runPoll(kind.rawValue).new == 2)
        }
    }

    // The server answers everybody about projects, and tells nobody else's gifts to a person.
    @Test func onlyWhatIsAboutThePersonNeedsAToken() {
        #expect(PollKind.ofEndorser.filter { !$0.needsToken } == [.starredProjects, .offersToStarred, .givesToStarred])
    }

    @Test(arguments: [PollKind.givesToStarred, .offersToStarred])
    func whatIsForAProjectThatIsUnstarredIsNotAnnounced(kind: PollKind) async throws {
        try await World.with(.endorser, plans: 2) { world in
            let agent = try await start(world, [kind]) { $0.polls[1].bootstrap = .beginning }
            let gives = publish(2, for: kind, in: world)
            let poll = try #require(agent.runtime.polls.first { $0.kind == kind })
            #expect(await agent.runtime.pollService.pass(poll, runID: "run_test").new == 2)
            try await agent.changeStars(StarsChange(operation: .remove, planIDs: [world.mock.planIDs[0]]))
            #expect(try await agent.rows([.suppressed]) == [gives[0]])
            #expect(try await agent.rows([.pending]) == [gives[1]])
        }
    }

    @Test func aGiftToMeForAProjectThatIsUnstarredIsAnnouncedByTheOtherPoll() async throws {
        try await World.with(.endorser, plans: 1) { world in
            let kinds: [PollKind] = [.givesToStarred, .givesToMe]
            let agent = try await start(world, kinds) { options in
                for index in 1...2 { options.polls[index].bootstrap = .beginning }
            }
            let gives = world.mock.publishGives(count: 1, to: world.did.rawValue, by: Self.giver)
            for kind in kinds {
                let poll = try #require(agent.runtime.polls.first { $0.kind == kind })
                #expect(await agent.runtime.pollService.pass(poll, runID: "run_test").new == 1)
            }
            try await agent.changeStars(StarsChange(operation: .remove, planIDs: world.mock.planIDs))
            let waiting = try await agent.outboxList(OutboxQuery()).filter { $0.state == .pending }
            #expect(waiting.map(\.poll) == [PollKind.givesToMe.rawValue])
            #expect(try await agent.rows([.pending]) == gives)
        }
    }

    @Test func aGiftForNoProjectIsNamedByItsDescriptionAndAnEditionSaysSo() async throws {
        try await World.with(.endorser, plans: 1) { world in
            let agent = try await start(world, [.givesToMe])
            try await agent.runPoll("gives_to_me")
            world.clock.advance(by: .seconds(900))
            let first = world.mock.publishGive(to: world.did.rawValue)
            try await agent.runPoll("gives_to_me")
            world.clock.advance(by: .seconds(900))
            world.mock.publishGive(handleID: "https://endorser.ch/entity/\(first)", to: world.did.rawValue)
            try await agent.runPoll("gives_to_me")
            let messages = try messages(world)
            #expect(messages.map(\.title) == ["New Gift", "Gift Edited"])
            #expect(messages.first?.body.hasPrefix("You received a gift: ") == true)
            #expect(messages.map(\.deepLink) == [DeepLink.notifications.url, DeepLink.notifications.url])
        }
    }

    /// The messages that the sink has got.
    private func messages(_ world: World) throws -> [NotificationMessage] {
        try #require(FileManager.default.contents(atPath: world.folder.path("sink.jsonl")))
            .split(separator: UInt8(ascii: "\n")).compactMap { NotificationMessage(json: Array($0)) }
    }

    @Test(arguments: MockDialect.allCases)
    func anOfferToAStarredProjectIsNamedAndOpensTheProject(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1) { world in
            let agent = try await start(world, [.offersToStarred]) { $0.polls[0].bootstrap = .beginning }
            // The report does not name the project, but the poll of changes has seen it.
            world.mock.publish(count: 1)
            try await agent.runPoll(World.starred)
            try await agent.runPoll("offers_to_starred")
            world.clock.advance(by: .seconds(900))
            world.mock.publishOffers(count: 1, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll("offers_to_starred").new == 1)
            let messages = try messages(world)
            let (change, offer) = (try #require(messages.first), try #require(messages.last))
            #expect(messages.count == 2 && offer.poll == "offers_to_starred")
            #expect(offer.changes.map(\.plan) == world.mock.planIDs)
            #expect(offer.changes[0].name == change.changes[0].name && change.changes[0].name != nil)
            #expect(offer.deepLink.contains("/details?") && offer.actions.contains("view_project"))
        }
    }

    @Test(arguments: MockDialect.allCases)
    func anOfferWhoseClaimNamesAProjectWithoutAStarOpensNone(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1) { world in
            let agent = try await start(world, [.offersToStarred]) { $0.polls[1].bootstrap = .beginning }
            let claim =
                #"{"@type":"Offer","itemOffered":{"isPartOf":{"identifier":"https://endorser.ch/entity/other"}}}"#
            world.mock.publishOffer(claim: claim, to: Self.taker)
            #expect(try await agent.runPoll("offers_to_starred").new == 1)
            let message = try #require(try messages(world).first)
            #expect(message.deepLink == DeepLink.notifications.url && !message.actions.contains("view_project"))
        }
    }

    @Test(arguments: [PollKind.givesToStarred, .givesToMyProjects], MockDialect.allCases)
    func anEditedGiftToAProjectIsAnnouncedAsEdited(kind: PollKind, dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1) { world in
            let agent = try await start(world, [kind])
            try await agent.runPoll(kind.rawValue)
            world.clock.advance(by: .seconds(900))
            let first = world.mock.publishGive(hasPlan: true, to: Self.taker)
            try await agent.runPoll(kind.rawValue)
            world.clock.advance(by: .seconds(900))
            let handle = "https://endorser.ch/entity/\(first)"
            world.mock.publishGive(handleID: handle, hasPlan: true, to: Self.taker)
            try await agent.runPoll(kind.rawValue)
            let messages = try messages(world)
            #expect(messages.map(\.title) == ["New Gift", "Gift Edited"])
            #expect(messages.map { $0.changes.first?.edited } == [nil, true])
        }
    }

    /// Of a gift to a project, the server's own fields name the project, and only the claim names the offer.
    @Test(arguments: [PollKind.givesToMe, .givesToMyProjects, .givesToStarred], MockDialect.allCases)
    func aGiftThatHonoursAnOfferSaysSo(kind: PollKind, dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 1) { world in
            let agent = try await start(world, [kind])
            try await agent.runPoll(kind.rawValue)
            world.clock.advance(by: .seconds(900))
            let receiver = kind == .givesToMe ? world.did.rawValue : Self.taker
            let offer = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
            world.mock.publishGive(hasPlan: kind != .givesToMe, fulfilling: offer, to: receiver)
            #expect(try await agent.runPoll(kind.rawValue).new == 1)
            world.clock.advance(by: .seconds(900))
            world.mock.publishGive(hasPlan: kind != .givesToMe, to: receiver)
            #expect(try await agent.runPoll(kind.rawValue).new == 1)
            let messages = try messages(world)
            #expect(messages.map { $0.body.contains("that honours an offer") } == [true, false])
            #expect(messages.map { $0.changes.first?.fulfillsOffer } == [true, nil])
        }
    }

    /// A server updates the row of a gift, so that it shows only the last edition.
    @Test(arguments: [PollKind.givesToStarred, .givesToMe])
    func aGiftThatWasEditedBeforeAPollSawItIsNew(kind: PollKind) async throws {
        try await World.with(.endorser, plans: 1) { world in
            let agent = try await start(world, [kind])
            let receiver = kind == .givesToMe ? world.did.rawValue : Self.taker
            world.mock.publishGive(hasPlan: true, to: receiver)
            try await agent.runPoll(kind.rawValue)
            world.clock.advance(by: .seconds(900))
            let first = JWTID.floor(.ulid, at: world.clock.now)
            world.clock.advance(by: .seconds(60))
            let handle = "https://endorser.ch/entity/\(first.rawValue)"
            world.mock.publishGive(handleID: handle, hasPlan: kind != .givesToMe, to: receiver)
            try await agent.runPoll(kind.rawValue)
            #expect(try messages(world).map(\.title) == ["New Gift"])
        }
    }

    @Test func manyAccountsAskForGiftsAlone() async throws {
        try await Crowd.with(.endorser) { options in
            var poll = options.polls[0]
            (poll.name, poll.kind) = (PollName("gives_to_starred")!, .givesToStarred)
            options.polls.append(poll)
        } _: { crowd in
            let before = (crowd.requests, crowd.world.mock.requestCount(of: .givesToPlans))
            let gives = crowd.world.mock.publishGives(count: 4, to: Self.taker, by: Self.giver)
            await crowd.round()
            #expect(crowd.requests == before.0 + 1)
            #expect(crowd.world.mock.requestCount(of: .givesToPlans) == before.1 + 12)
            for index in 0..<12 {
                let own = [gives[index % 4], gives[(index + 1) % 4]]
                try #expect(crowd.announced(to: index).sorted() == own.sorted())
            }
        }
    }
}
