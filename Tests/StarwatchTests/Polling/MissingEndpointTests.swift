import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Polls whose endpoint the server lacks.
@Suite struct MissingEndpointTests {
    private static let missing = MockFault.status(404, body: #"{"error":"Route not found"}"#)

    private func endpoint(of kind: PollKind) -> MockEndpoint { MockEndpoint(rawValue: kind.endpoint.rawValue)! }

    private func withAgent(
        of kind: PollKind,
        _ body: (World, Agent, Poll) async throws -> Void
    ) async throws {
        try await World.with(.endorser, plans: 1) { world in
            try world.folder.write(World.ethrKey, to: "key")
            world.mock.setStickyFault(Self.missing, at: endpoint(of: kind))
            let agent = try await world.agent { options in
                options.auth.kind = .didKey
                options.auth.keyFile = world.folder.path("key")
                options.log.level = .notice
                options.polls.append(PollOptions(name: PollName(kind.rawValue)!, kind: kind))
            }
            try await body(world, agent, try #require(agent.runtime.polls.last))
        }
    }

    /// A cycle of the schedule.
    private func cycle(_ poll: Poll, _ agent: Agent, _ world: World) async -> PollCycle.Result {
        let next = world.clock.now + .seconds(900)
        return await agent.runtime.pollService.pass(poll, runID: "run_test", nextRun: next)
    }

    @Test(arguments: GiveTests.kinds)
    func theyRestForADayWhichIsSaidOnceAndIsNoFailure(kind: PollKind) async throws {
        try await withAgent(of: kind) { world, agent, poll in
            let (name, endpoint) = (kind.rawValue, endpoint(of: kind))
            #expect(await cycle(poll, agent, world).skip == .endpointMissing)
            #expect(world.mock.requestCount(of: endpoint) == 1)
            world.clock.advance(by: .seconds(86_399))
            #expect(await cycle(poll, agent, world).skip == .endpointMissing)
            #expect(world.mock.requestCount(of: endpoint) == 1)

            let status = await agent.state()
            #expect(status.reasons.contains("endpoint_missing:\(name)"))
            #expect(status.polls[name]?.skipReason == .endpointMissing)
            #expect(status.polls[name]?.stale == false && status.polls[World.starred]?.stale == true)
            #expect(status.polls[name]?.lastError == nil)
            let page = await agent.page()
            #expect(page["starwatch_poll_failure_total", ["poll": name]] == 0)
            #expect(page["starwatch_poll_skipped_total", ["poll": name, "reason": "endpoint_missing"]] == 2)
            #expect(page["starwatch_circuit_state", ["target": "server"]] == 0)

            world.clock.advance(by: .seconds(1))
            #expect(await cycle(poll, agent, world).skip == .endpointMissing)
            #expect(world.mock.requestCount(of: endpoint) == 2)
            await world.stopAgent()
            func lines(_ event: String) -> Int { world.log.lines.filter { $0.contains("\"\(event)\"") }.count }
            #expect(lines("poll.endpoint_missing") == 1 && lines("poll.skipped") == 0 && lines("poll.failed") == 0)
        }
    }

    @Test(arguments: GiveTests.kinds)
    func anOperatorsRunTriesAtOnceAndASuccessEndsTheProblem(kind: PollKind) async throws {
        try await withAgent(of: kind) { world, agent, poll in
            let name = kind.rawValue
            let report = try await agent.runPoll(name)
            #expect(report.outcome == "skipped" && report.reason == "endpoint_missing")
            #expect(try await agent.perform(ControlAPI.tryPoll, name).reason == "endpoint_missing")
            world.mock.clearFaults()
            #expect(try await agent.runPoll(name).outcome == "bootstrapped")
            #expect(await agent.state().reasons == [])
            #expect(await cycle(poll, agent, world).outcome == .unchanged)
        }
    }

    @Test func anotherFailureEndsTheRestAndIsNotHidden() async throws {
        try await withAgent(of: .givesToMe) { world, agent, poll in
            #expect(await cycle(poll, agent, world).skip == .endpointMissing)
            world.mock.clearFaults()
            world.mock.setStickyFault(.status(500, body: "{}"), at: .givesToMe)
            world.clock.advance(by: .seconds(86_400))
            for _ in 0..<2 {
                let outcome = await cycle(poll, agent, world).outcome
                #expect(outcome == .failed)
            }
            let reasons = await agent.state().reasons
            #expect(!reasons.contains("endpoint_missing:gives_to_me"))
        }
    }

    @Test func anEndpointThatHasAnsweredFailsInsteadOfResting() async throws {
        try await withAgent(of: .givesToMe) { world, agent, poll in
            world.mock.clearFaults()
            let first = try await agent.runPoll("gives_to_me").outcome
            #expect(first == "bootstrapped")
            world.mock.setStickyFault(Self.missing, at: .givesToMe)
            let outcome = await cycle(poll, agent, world).outcome
            #expect(outcome == .failed)
        }
    }

    @Test func aMissingListOfOwnProjectsRestsTheSameWay() async throws {
        try await withAgent(of: .givesToMyProjects) { world, agent, poll in
            world.mock.clearFaults()
            world.mock.setStickyFault(Self.missing, at: .plans)
            for _ in 0..<2 { #expect(await cycle(poll, agent, world).skip == .endpointMissing) }
            #expect(world.mock.requestCount(of: .plans) == 1 && world.mock.requestCount(of: .givesToPlans) == 0)
        }
    }

    @Test(arguments: [PollKind.starredProjects, .offersToMe])
    func theEndpointsOfEveryServerFailAsBefore(kind: PollKind) async throws {
        try await World.with(.endorser, plans: 1) { world in
            let agent = try await world.agent {
                $0.useTokens(in: world.folder)
                $0.polls.append(PollOptions(name: PollName("other")!, kind: kind))
            }
            world.mock.setStickyFault(Self.missing, at: endpoint(of: kind))
            for _ in 0..<2 { #expect(try await agent.runPoll("other").outcome == "failed") }
            #expect(world.mock.requestCount(of: endpoint(of: kind)) == 2)
            #expect(await agent.state().reasons == ["failing:other"])
        }
    }

    @Test func aReloadTriesAgainAndNoNoticeOfStalenessIsSent() async throws {
        try await Bench.run(
            sinks: ["sink"],
            configure: { options, _, folder in
                options.useTokens(in: folder)
                options.delivery.stalenessNotice = true
                options.polls = [PollOptions(name: PollName("gives_to_me")!, kind: .givesToMe)]
            }
        ) { bench in
            bench.mock.setStickyFault(Self.missing, at: .givesToMe)
            func cycle() async -> SkipReason? {
                let agent = bench.agent
                let next = bench.clock.now + .seconds(900)
                return await agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_test", nextRun: next)
                    .skip
            }
            for _ in 0..<2 { #expect(await cycle() == .endpointMissing) }
            #expect(bench.mock.requestCount(of: .givesToMe) == 1)
            bench.clock.advance(by: .seconds(6 * 3600))
            await bench.dispatch()
            #expect(bench["sink"].seen.isEmpty)
            try await bench.reload()
            #expect(await cycle() == .endpointMissing)
            #expect(bench.mock.requestCount(of: .givesToMe) == 2)
        }
    }

    @Test func manyAccountsTryOnceForAll() async throws {
        try await Crowd.with(.endorser, faults: [.givesToPlans: Self.missing]) { options in
            var poll = options.polls[0]
            (poll.name, poll.kind) = (PollName("gives_to_starred")!, .givesToStarred)
            options.polls.append(poll)
        } _: { crowd in
            for _ in 0..<3 { await crowd.round() }
            #expect(crowd.world.mock.requestCount(of: .givesToPlans) == 1)
            #expect(await crowd.agent.state().reasons.contains("endpoint_missing:gives_to_starred"))
        }
    }
}
