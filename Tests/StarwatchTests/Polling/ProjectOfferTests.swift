import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Offers to the account's own projects (R-EP-27).
@Suite struct ProjectOfferTests {
    private static let poll = PollName("offers_to_my_projects")!
    private static let (giver, taker) = (
        "did:ethr:0x00000000000000000000000000000000000000c1", "did:ethr:0x00000000000000000000000000000000000000c2"
    )

    @Test(arguments: MockDialect.allCases)
    func theyAreFetchedPageByPageAnnouncedOnceAndAcknowledgedHere(dialect: MockDialect) async throws {
        // Every second plan is the owner's, so the only one is.
        try await World.with(dialect, plans: 1) { world in
            try world.folder.write(World.ethrKey, to: "key")
            let agent = try await world.agent { options in
                if dialect == .endorser {
                    options.auth.kind = .didKey
                    options.auth.keyFile = world.folder.path("key")
                } else {
                    options.useTokens(in: world.folder)
                }
                var poll = PollOptions(name: Self.poll, kind: .offersToMyProjects)
                poll.bootstrap = .beginning
                options.polls = [poll]
            }
            // None of them is made to the account itself.
            let offers = world.mock.publishOffers(count: 120, to: Self.taker, by: Self.giver)
            let report = try await agent.runPoll(Self.poll.rawValue)
            #expect(report.outcome == "changed" && report.new == 120 && report.acknowledged == 120)
            #expect(try world.announced.sorted() == offers.sorted())

            let requests = world.mock.requests()
            #expect(requests.count >= 2)
            for request in requests {
                #expect(request.method == "GET" && request.body.isEmpty)
                #expect(request.path == "/api/v2/report/offersToPlansOwnedByMe")
                #expect(request.header("Authorization")?.hasPrefix("Bearer ") == true)
            }
            // The report is of the token's account, so it takes nothing but the ends of the range.
            let names = requests.map { request in
                Set((request.query ?? "").split(separator: "&").map { String($0.prefix { $0 != "=" }) })
            }
            #expect(names.allSatisfy { $0.isSubset(of: ["afterId", "beforeId"]) })
            #expect(names.last?.contains(dialect == .endorser ? "beforeId" : "afterId") == true)

            // Servers have no acknowledgement of offers.
            #expect(world.mock.acknowledgedIDs.isEmpty)
            #expect(try await agent.rows([.acknowledged]).sorted() == offers.sorted())

            world.clock.advance(by: .seconds(900))
            let more = world.mock.publishOffers(count: 1, to: Self.taker, by: Self.giver)
            #expect(try await agent.runPoll(Self.poll.rawValue).new == 1)
            #expect(world.mock.requests().last?.query?.contains("afterId=") == true)
            #expect(try world.announced.sorted() == (offers + more).sorted())
            let stream = StreamKey(account: world.did, server: agent.runtime.account.server, poll: Self.poll)
            // In the dialect canonical, the watermark of a second page follows with the next cycle.
            _ = try await agent.runPoll(Self.poll.rawValue)
            #expect(try await agent.store.acknowledgements.watermark(stream)?.rawValue == more.last)
        }
    }
}
