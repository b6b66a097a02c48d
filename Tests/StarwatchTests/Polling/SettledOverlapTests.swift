import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

/// The overlap below the cursor, which ends when nothing can appear in it any more.
@Suite struct SettledOverlapTests {
    private static let offers = "offers"

    private func agent(_ world: World) async throws -> Agent {
        try await world.agent {
            $0.useTokens(in: world.folder)
            var poll = PollOptions(name: PollName(Self.offers)!, kind: .offersToMe)
            poll.bootstrap = .beginning
            $0.server.dialect = .endorser
            $0.polls[0].bootstrap = .beginning
            $0.polls.append(poll)
        }
    }

    @Test(arguments: [World.starred, offers])
    func theLastBurstIsFetchedAgainOnceAndThenNoMore(poll: String) async throws {
        try await World.with(.endorser) { world in
            let agent = try await agent(world)
            world.mock.publish(count: 5)
            world.mock.publishOffers(count: 5, to: world.did.rawValue)
            #expect(try await agent.runPoll(poll).fetched == 5)
            // Late ones can still appear.
            world.clock.advance(by: .seconds(20))
            #expect(try await agent.runPoll(poll).fetched == 5)
            world.clock.advance(by: .seconds(20))
            #expect(try await agent.runPoll(poll).fetched == 5)
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(900))
                #expect(try await agent.runPoll(poll).fetched == 0)
            }
            world.mock.publish(count: 2)
            world.mock.publishOffers(count: 2, to: world.did.rawValue)
            #expect(try await agent.runPoll(poll).new == 2)
            #expect(try await agent.rows(Set(OutboxState.allCases)).count == 7)
        }
    }

    @Test func starsOfAnotherIdentityOrRestartFetchTheOverlapAgain() async throws {
        try await World.with(.endorser) { world in
            var agent = try await agent(world)
            world.mock.publish(count: 5)
            _ = try await agent.runPoll(World.starred)
            for expected in [5, 0] {
                world.clock.advance(by: .seconds(900))
                #expect(try await agent.runPoll(World.starred).fetched == expected)
            }
            _ = try await agent.changeStars(StarsChange(operation: .add, planIDs: ["https://other.example/1"]))
            #expect(try await agent.runPoll(World.starred).fetched == 5)
            #expect(try await agent.runPoll(World.starred).fetched == 0)
            agent = try await self.agent(world)
            #expect(try await agent.runPoll(World.starred).fetched == 5)
        }
    }

    /// A locked database holds the answer for 20 s after its rows were read.
    @Test func theTimeThatAnAnswerTookCountsAgainstIt() throws {
        let askedAt = try #require(Timestamp(iso8601: "2026-01-01T12:00:00Z"))
        let headers = HTTPHeaders([("Date", "Thu, 01 Jan 2026 12:00:20 GMT")])
        let decoder = PageDecoder(dialect: .endorser, validation: .lenient, quarantine: false)
        func answer(_ headers: HTTPHeaders) throws -> PageAnswer {
            let response = HTTPResponse(status: 204, headers: headers, body: [])
            return try PageAnswer.read(response, askedAt: askedAt, by: decoder).get()
                .with(sending: PageAnswer.Sending(took: .seconds(20)))
        }
        #expect(try answer(headers).readSince == askedAt)
        #expect(try answer(HTTPHeaders([])).readSince == nil)
    }

    @Test func aServerWithoutADateKeepsItsOverlap() async throws {
        try await World.with(.endorser) { world in
            let agent = try await agent(world)
            world.mock.publish(count: 2)
            #expect(try await agent.runPoll(World.starred).fetched == 2)
            let plan = world.mock.planIDs[0]
            let id = try #require(world.mock.publishedIDs.last)
            let body = #"{"data":[{"plan":{"jwtId":"\#(id)","handleId":"\#(plan)"}}],"hitLimit":false}"#
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(900))
                let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                world.mock.script(.raw(Array((head + body).utf8)), at: .plansChanged)
                #expect(try await agent.runPoll(World.starred).fetched == 1)
            }
            let asked = world.mock.requests(to: .plansChanged).suffix(2).map {
                String(decoding: $0.body, as: UTF8.self)
            }
            #expect(asked.allSatisfy { !$0.contains(id) }, "\(asked)")
        }
    }
}
