import MockEndorser
import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// What the status says of requests and polls is so.
@Suite struct ShownStateTests {
    @Test(arguments: [MockFault.status(401), .status(404), .rateLimited(retryAfter: .seconds(1))])
    func everyRequestWithoutItsAnswerCountsAsFailed(fault: MockFault) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            await agent.look()
            world.mock.setStickyFault(fault, at: .plansChanged)
            for _ in 0..<4 { _ = try await agent.runPoll(World.starred) }
            let answers = try #require(await agent.state().server.answers)
            #expect(answers.requests > 0 && answers.failed == answers.requests)
            world.mock.clearFaults()
            world.clock.advance(by: .seconds(120))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let later = try #require(await agent.state().server.answers)
            #expect(later.failed == answers.failed && later.requests > later.failed)
        }
    }

    @Test func noP95IsLongerThanTheLongestRequest() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            await agent.look()
            for _ in 0..<6 { _ = try await agent.runPoll(World.starred) }
            let api = agent.runtime.process.environment.metrics.api
            let longest = try #require(await agent.state().server.answers?.p95Seconds)
            let sum = Endpoint.allCases.reduce(0) { $0 + api.latency[$1].sum }
            #expect(longest <= sum)
            #expect(api.longestSeconds > 0, "the status has taken it")
            await agent.look()
            #expect(api.longestSeconds == 0, "the look has not taken it")
        }
    }

    private func cycle(_ agent: Agent, in wait: Duration) async -> Timestamp {
        let next = agent.runtime.process.environment.time.now + wait
        _ = await agent.runtime.pollService.pass(agent.starred, runID: "run_test", nextRun: next)
        return next
    }

    @Test func theNextRunIsNotBeforeTheCircuitLetsARequestThrough() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            world.mock.setStickyFault(.status(500), at: .plansChanged)
            var next = await cycle(agent, in: .seconds(3))
            #expect(await agent.state().polls[World.starred]?.nextRun == next.iso8601)
            for _ in 0..<4 { next = await cycle(agent, in: .seconds(3)) }
            let probe = try #require(await agent.runtime.account.gate.circuit.nextTry)
            #expect(probe > next)
            #expect(await agent.state().polls[World.starred]?.nextRun == probe.iso8601)
        }
    }

    @Test func thePollOfAMissingEndpointIsNotFreshAndRunsAfterItsRest() async throws {
        try await World.with(.endorser, plans: 1) { world in
            let kind = PollKind.givesToStarred
            let endpoint = try #require(MockEndpoint(rawValue: kind.endpoint.rawValue))
            world.mock.setStickyFault(.status(404, body: #"{"error":"Route not found"}"#), at: endpoint)
            let agent = try await world.agent {
                $0.polls.append(PollOptions(name: PollName(kind.rawValue)!, kind: kind))
            }
            let poll = try #require(agent.runtime.polls.last)
            _ = try await agent.runPoll(World.starred)
            let began = world.clock.now
            _ = await agent.runtime.pollService.pass(poll, runID: "run_test", nextRun: began + .seconds(900))
            let status = await agent.state()
            let (resting, starred) = (
                try #require(status.polls[kind.rawValue]), try #require(status.polls[World.starred])
            )
            #expect(status.state(of: kind.rawValue, resting) == .noEndpoint)
            #expect(status.state(of: World.starred, starred) == .fresh)
            let next = try #require(resting.nextRun.flatMap { Timestamp(iso8601: $0) })
            #expect(next >= began + .seconds(86_400))
        }
    }
}
