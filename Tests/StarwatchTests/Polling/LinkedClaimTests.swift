import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// Polls of everybody's claims, which announce those that link to a claim of the account.
@Suite struct LinkedClaimTests {
    private static let (other, taker) = (
        "did:ethr:0x00000000000000000000000000000000000000c1", "did:ethr:0x00000000000000000000000000000000000000c2"
    )
    private static let offers = PollKind.givesForMyOffers

    private func start(
        _ world: World,
        _ kind: PollKind,
        _ change: (inout PollOptions) -> Void = { _ in }
    ) async throws -> Agent {
        try world.folder.write(World.ethrKey, to: "key")
        return try await world.agent { options in
            options.auth.kind = .didKey
            options.auth.keyFile = world.folder.path("key")
            var poll = PollOptions(name: PollName(kind.rawValue)!, kind: kind)
            change(&poll)
            options.polls.append(poll)
        }
    }

    /// Polls twice: the first cycle still fetches what can have become visible late.
    private func expectNothingNew(_ agent: Agent, _ kind: PollKind, in world: World) async throws {
        for _ in 1...2 {
            world.clock.advance(by: .seconds(900))
            world.mock.forgetRequests()
            #expect(try await agent.runPoll(kind.rawValue).outcome == "unchanged")
        }
    }

    private func handle(_ id: String) -> String { "https://endorser.ch/entity/\(id)" }

    @Test func aGiftThatHonoursAnOfferOfTheAccountIsAnnouncedAndOthersAreNot() async throws {
        try await World.with(.endorser, plans: 1) { world in
            let agent = try await start(world, Self.offers)
            #expect(try await agent.runPoll(Self.offers.rawValue).outcome == "bootstrapped")
            // The account's offers are asked for after the gifts, so that one made since the last cycle is known.
            let offer = world.mock.publishOffers(count: 1, to: Self.taker, by: world.did.rawValue)[0]
            let foreign = world.mock.publishOffers(count: 1, to: Self.taker, by: Self.other)[0]
            world.clock.advance(by: .seconds(900))
            world.mock.publishGive(fulfilling: handle(foreign), to: Self.taker)
            let honoured = world.mock.publishGive(fulfilling: handle(offer), to: Self.taker)
            world.mock.publishGive(fulfilling: handle(foreign), to: Self.taker)
            world.mock.publishGive(to: Self.taker)
            let report = try await agent.runPoll(Self.offers.rawValue)
            #expect(report.new == 1 && report.acknowledged == 1)
            #expect(try world.announced == [honoured])

            world.clock.advance(by: .seconds(900))
            world.mock.publishGive(handleID: handle(honoured), fulfilling: handle(offer), to: Self.taker)
            #expect(try await agent.runPoll(Self.offers.rawValue).new == 1)
            #expect(try world.announced.count == 2)

            try await expectNothingNew(agent, Self.offers, in: world)
            let requests = world.mock.requests(to: .givesToMe)
            #expect(requests.count == 1 && requests[0].query?.contains("fulfillsType=Offer") == true)
            #expect(world.mock.requestCount(of: .offersToMe) == 0)
        }
    }

    @Test func manyOffersAndManyGiftsOfOthersAreRead() async throws {
        try await World.with(.endorser, plans: 1) { world in
            let agent = try await start(world, Self.offers) { $0.bootstrap = .beginning }
            let offers = world.mock.publishOffers(count: 60, to: Self.taker, by: world.did.rawValue)
            var honoured: [String] = []
            for number in 0..<130 {
                let isMine = number % 60 == 7
                let offer = isMine ? offers[0] : "01JWMCKG0022HDXJ4G4Q61XV37"
                let give = world.mock.publishGive(fulfilling: handle(offer), to: Self.taker)
                if isMine { honoured.append(give) }
            }
            #expect(try await agent.runPoll(Self.offers.rawValue).new == 3)
            #expect(try world.announced.sorted() == honoured.sorted())
            // The cursor of the pages of offers is an identifier, unlike that of projects.
            let pages = world.mock.requests(to: .offersToMe).map { $0.query ?? "" }
            #expect(pages.count == 2 && pages[1].contains("beforeId=\(offers[10])"), "\(pages)")
            // What was left out is not asked for again.
            try await expectNothingNew(agent, Self.offers, in: world)
            #expect(world.mock.requests { $0.path == Self.offers.endpoint.path }.count == 1)
        }
    }

    @Test func aConfirmationOfTheAccountsClaimIsAnnouncedWithItsName() async throws {
        try await World.with(.endorser, plans: 1) { world in
            let kind = PollKind.confirmationsOfMyClaims
            let agent = try await start(world, kind)
            let gives = world.mock.publishGives(count: 2, to: Self.taker, by: world.did.rawValue)
            let foreign = world.mock.publishGives(count: 1, to: Self.taker, by: Self.other)[0]
            #expect(try await agent.runPoll(kind.rawValue).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            world.mock.publishConfirmation(of: [foreign])
            let byID = world.mock.publishConfirmation(of: [gives[0]])
            world.mock.publishConfirmation(of: [handle(foreign)])
            #expect(try await agent.runPoll(kind.rawValue).new == 1)
            let text = try #require(try messages(world).first)
            #expect(text.title == "New Confirmation" && text.body.hasPrefix("Your claim was confirmed: "))
            #expect(text.changes.map(\.plan) == [handle(gives[0])])

            world.clock.advance(by: .seconds(900))
            let byHandle = world.mock.publishConfirmation(of: [foreign, handle(gives[1])])
            world.mock.publishConfirmation(of: [gives[1]], by: world.did.rawValue)
            world.mock.publishConfirmation(of: [])
            #expect(try await agent.runPoll(kind.rawValue).new == 2)
            // The account's own confirmation is no news to it.
            #expect(try world.announced == [byID, byHandle])

            try await expectNothingNew(agent, kind, in: world)
            #expect(world.mock.requestCount(of: .claims) == 1)
        }
    }

    /// The messages that the sink has got.
    private func messages(_ world: World) throws -> [NotificationMessage] {
        try #require(FileManager.default.contents(atPath: world.folder.path("sink.jsonl")))
            .split(separator: UInt8(ascii: "\n")).compactMap { NotificationMessage(json: Array($0)) }
    }

    @Test func aFailureToReadTheAccountsOwnClaimsLosesNoGift() async throws {
        try await World.with(.endorser, plans: 1) { world in
            let agent = try await start(world, Self.offers)
            try await agent.runPoll(Self.offers.rawValue)
            let offer = world.mock.publishOffers(count: 1, to: Self.taker, by: world.did.rawValue)[0]
            world.clock.advance(by: .seconds(900))
            let honoured = world.mock.publishGive(fulfilling: handle(offer), to: Self.taker)
            world.mock.setStickyFault(.status(400), at: .offersToMe)
            #expect(try await agent.runPoll(Self.offers.rawValue).outcome == "failed")
            world.mock.clearFaults()
            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(Self.offers.rawValue).new == 1)
            #expect(try world.announced == [honoured])
        }
    }
}
