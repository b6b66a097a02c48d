import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// An agent whose clock is wrong, by up to a day either way, from the start or all of a sudden.
@Suite(.timeLimit(.minutes(5))) struct SkewTests {
    private static let secret = "a secret of thirty-two bytes ok!"
    /// Offset of the agent's clock from the server's, positive for ahead.
    static let skews: [Int64] = [-86_400, -3600, 0, 3600, 86_400]

    private func with(
        _ dialect: MockDialect,
        agentAhead skew: Int64,
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        try await World.with(
            dialect,
            mock: {
                $0.auth = dialect == .canonical ? .sharedSecret(Array(Self.secret.utf8)) : .didKey
                $0.clockSkew = .seconds(-skew)
            }
        ) { world in
            let file = try world.folder.write(dialect == .canonical ? Self.secret : World.ethrKey, to: "key")
            let agent = try await world.agent {
                $0.auth.kind = dialect == .canonical ? .sharedSecret : .didKey
                if dialect == .canonical { $0.auth.secretFile = file } else { $0.auth.keyFile = file }
            }
            try await body(world, agent)
        }
    }

    /// With the server a day ahead, an agent that has just started does not say that it runs since a day.
    @Test(arguments: skews) func theStatusTellsStartAndNowByOneClock(skew: Int64) async throws {
        try await with(.endorser, agentAhead: skew) { world, agent in
            let start = world.clock.now
            _ = try await agent.runPoll(World.starred)
            world.clock.advance(by: .seconds(90))
            let status = await agent.state()
            let started = try #require(Timestamp(iso8601: status.startedAt))
            let now = try #require(Timestamp(iso8601: status.now))
            #expect(now - started == world.clock.now - start)
        }
    }

    /// Two minutes are within what the server tolerates, so nothing refuses the first token.
    @Test(arguments: [-120, 120] as [Int64])
    func aTokenOfAClockThatWasNotMeasuredIsMadeAnewWithTheFirstMeasurement(skew: Int64) async throws {
        try await World.with(
            .endorser,
            mock: {
                $0.auth = .sharedSecret(Array(Self.secret.utf8))
                $0.clockSkew = .seconds(-skew)
            }
        ) { world in
            let file = try world.folder.write(Self.secret, to: "key")
            let agent = try await world.agent {
                $0.auth.kind = .sharedSecret
                $0.auth.secretFile = file
            }
            world.mock.publish(count: 1)
            _ = try await agent.runPoll(World.starred)
            #expect(abs(try lastToken(world).issued - Double(skew)) <= 1)
            #expect(await refusals(agent) == 0)
            world.clock.advance(by: .seconds(10))
            _ = try await agent.runPoll(World.starred)
            #expect(abs(try lastToken(world).issued) <= 1)
            // Once is enough.
            world.clock.advance(by: .seconds(10))
            _ = try await agent.runPoll(World.starred)
            #expect(abs(try lastToken(world).issued + 10) <= 1)
        }
    }

    private func refusals(_ agent: Agent) async -> Double {
        await agent.page()["starwatch_retries_total", ["endpoint": "plans_changed", "reason": "unauthenticated"]] ?? -1
    }

    /// The issue and expiry of the last token, as seconds from the server's time.
    private func lastToken(_ world: World) throws -> (issued: Double, expires: Double) {
        let request = try #require(world.mock.requests(to: .plansChanged).last)
        let token = try #require(request.header("Authorization")?.dropFirst("Bearer ".count))
        var text = token.split(separator: ".")[1].replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        let data = try #require(Data(base64Encoded: String(text)))
        let claims = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let server = (world.clock.now + world.mock.clockSkew).seconds
        let issued = try #require(claims["iat"] as? Double)
        let expires = try #require(claims["exp"] as? Double)
        return (issued - server, expires - server)
    }

    @Test(arguments: MockDialect.allCases, [-10, 10])
    func noServerGetsATokenThatIsADayFromTheLocalClock(dialect: MockDialect, years: Int64) async throws {
        let ahead = years * 365 * 86_400
        try await with(dialect, agentAhead: -ahead) { world, agent in
            _ = try await agent.runPoll(World.starred)
            _ = try await agent.runPoll(World.starred)
            // The skew is told as it is, and followed for a day.
            #expect(abs((agent.process.environment.clock.estimate?.offset.inSeconds ?? 0) - Double(ahead)) < 60)
            #expect(agent.process.environment.clock.now - world.clock.now == .seconds(years < 0 ? -86_400 : 86_400))
            let issued = try lastToken(world).issued + (world.clock.now + world.mock.clockSkew).seconds
            let offset = issued - world.clock.now.seconds
            #expect(offset == (years < 0 ? -86_400 : 86_400))
        }
    }

    /// The identifier of the first request's lower bound.
    private func asked(_ request: RecordedRequest) throws -> JWTID {
        let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
        return try #require((body["afterId"] as? String).flatMap(JWTID.init))
    }

    @Test(arguments: MockDialect.allCases, skews)
    func tokensWatermarkAndOverlapAreRight(dialect: MockDialect, skew: Int64) async throws {
        try await with(dialect, agentAhead: skew) { world, agent in
            world.mock.publish(count: 1)
            world.clock.advance(by: .seconds(60))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            // One refusal says what time it is; a right clock needs none.
            #expect(await refusals(agent) <= (skew == 0 ? 0 : 1))
            let refused = await refusals(agent)

            var announced: [String] = []
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(900))
                let late = world.mock.publish(count: 1, age: .seconds(4), visibleAfter: .seconds(10))
                let early = world.mock.publish(count: 2)
                #expect(try await agent.runPoll(World.starred).new == 2)
                announced += early
                #expect(try world.announced == announced)
                #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == early.last)
                #expect(try await agent.state(of: world.did).watermark?.rawValue == early.last)

                world.clock.advance(by: .seconds(60))
                world.mock.forgetRequests()
                #expect(try await agent.runPoll(World.starred).new == 1)
                announced += late
                #expect(try world.announced == announced)
                #expect(try await agent.state(of: world.did).watermark?.rawValue == early.last)
                // As long before the newest change as the server may be late; no clock has a say in it.
                let first = try #require(world.mock.requests(to: .plansChanged).first)
                let newest = try #require(JWTID(early.last!))
                let overlap = newest.timestamp - (try asked(first)).timestamp
                let expected = (dialect == .canonical ? Dialect.canonical : .endorser).lateVisibility
                #expect(abs((overlap - expected).wholeMilliseconds) <= 1000)
                let token = try lastToken(world)
                #expect(token.issued <= 1)
                #expect(token.expires > 0)
            }
            #expect(await refusals(agent) == refused)
            let row = try #require(try await agent.outboxList(state: nil).first)
            let stored = try #require(Timestamp(iso8601: row.createdAt))
            #expect(abs((stored - (world.clock.now + world.mock.clockSkew)).wholeMilliseconds) <= 60_000)
            let page = await agent.page()
            #expect(abs((page["starwatch_clock_skew_seconds"] ?? .nan) + Double(skew)) < 1.1)
            // Prometheus compares with its own clock, which is the agent's.
            let success = try #require(
                page["starwatch_poll_last_success_timestamp_seconds", ["poll": World.starred]]
            )
            #expect(abs(success - world.clock.now.seconds) < 2)
            #expect(await agent.state().reasons.contains("clock_skew") == (skew != 0))
        }
    }

    private func expectFresh(_ agent: Agent) async throws -> AgentStatus {
        let status = await agent.state()
        let poll = try #require(status.polls[World.starred])
        #expect(!poll.stale)
        return status
    }

    /// Whatever a server says of the time, its data gets old by the local clock, over restarts too.
    @Test(arguments: [-30, -1, 0, 1, 30] as [Int64])
    func aServerThatDiesLeavesAStalePollWhateverItsClockSaid(days: Int64) async throws {
        let ahead = days * 86_400
        try await World.with(.endorser, mock: { $0.clockSkew = .seconds(ahead) }) { world in
            let first = try await world.agent()
            let success = world.clock.now
            #expect(try await first.runPoll(World.starred).outcome == "bootstrapped")
            let fresh = try await expectFresh(first)
            #expect(fresh.reasons.contains("clock_skew") == (days != 0))
            #expect(abs((fresh.clock.skewSeconds ?? .nan) - Double(ahead)) < 1.1)
            world.mock.setStickyFault(.resetBeforeHead, at: .plansChanged)

            world.clock.advance(by: .seconds(3600))
            for _ in 0..<2 {
                let agent = try await world.agent()
                let restarted = try await expectFresh(agent)
                #expect(restarted.polls[World.starred]?.lastSuccess == success.iso8601)
                #expect(!restarted.reasons.contains("clock_skew"))
                #expect(await agent.cycle().outcome == .failed)
                let page = await agent.page()
                let poll = ["poll": World.starred]
                #expect(page["starwatch_poll_last_success_timestamp_seconds", poll] == success.seconds)
                let attempt = try #require(page["starwatch_poll_last_attempt_timestamp_seconds", poll])
                #expect(attempt <= world.clock.now.seconds)
            }
            world.clock.setWall(to: success + .seconds(4 * 3600 - 10))
            _ = try await expectFresh(world.agent())
            world.clock.advance(by: .seconds(60))
            let last = try await world.agent { $0.delivery.stalenessNotice = true }
            let stale = await last.state()
            #expect(stale.polls[World.starred]?.stale == true)
            #expect(stale.reasons.contains("stale:starred_projects"))
            let file = world.folder.path("sink.jsonl")
            #expect(FileManager.default.contents(atPath: file)?.isEmpty ?? true)
            _ = await last.runtime.dispatcher.pass()
            #expect(FileManager.default.contents(atPath: file)?.isEmpty == false)
        }
    }

    /// The database of an agent whose clock was ahead.
    @Test func aLastSuccessInTheFutureIsNoFreshness() async throws {
        try await World.with(.endorser) { world in
            world.clock.setWall(to: ManualClock.start + .days(30))
            _ = try await world.agent().runPoll(World.starred)
            await world.stopAgent()
            world.clock.setWall(to: ManualClock.start)
            world.mock.setStickyFault(.resetBeforeHead, at: .plansChanged)
            let agent = try await world.agent()
            let page = await agent.page()
            #expect(
                page["starwatch_poll_last_success_timestamp_seconds", ["poll": World.starred]]
                    == world.clock.now.seconds
            )
            #expect(await agent.state().polls[World.starred]?.lastSuccess == world.clock.now.iso8601)
            _ = await agent.runtime.dispatcher.pass()
            world.clock.advance(by: .seconds(4 * 3600 + 1))
            #expect(await agent.state().polls[World.starred]?.stale == true)
            let restarted = try await world.agent().state()
            #expect(restarted.polls[World.starred]?.stale == true)
        }
    }

    /// Nobody has noticed the step when the next token is made.
    @Test(arguments: MockDialect.allCases, skews.filter { $0 != 0 })
    func aClockThatIsSetBetweenTwoPollsCostsNoRefusal(dialect: MockDialect, step: Int64) async throws {
        try await with(dialect, agentAhead: 0) { world, agent in
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            world.clock.setWall(to: world.clock.now + .seconds(step))
            world.mock.clockSkew = .seconds(-step)
            let ids = world.mock.publish(count: 3)
            let report = try await agent.runPoll(World.starred)
            #expect(report.new == 3)
            #expect(await refusals(agent) == 0)
            #expect(try world.announced == ids)
            #expect(try await agent.state(of: world.did).watermark?.rawValue == ids.last)
            #expect(try lastToken(world).expires > 0)
        }
    }
}
