import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct ThrottleCountTests {
    @Test(arguments: [MockFault.rateLimited(retryAfter: .seconds(7)), .status(503, headers: ["Retry-After": "7"])])
    func aWaitOfTheServerInsideACycleCountsAsThrottled(fault: MockFault) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(fault, at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let page = await agent.page()
            #expect(page["starwatch_throttled_total", ["endpoint": "plans_changed", "source": "server"]] == 1)
            #expect(page["starwatch_throttle_wait_seconds_count", ["source": "server"]] == 1)
            #expect(page["starwatch_throttle_wait_seconds_sum", ["source": "server"]] == 7)
            #expect(page["starwatch_throttled_total", ["endpoint": "plans_changed", "source": "client"]] == 0)
        }
    }

    @Test func aWaitThatIsLeftToALaterCycleCountsOnce() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(.rateLimited(retryAfter: .seconds(300)), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "deferred")
            world.clock.advance(by: .seconds(301))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let page = await agent.page()
            #expect(page["starwatch_throttled_total", ["endpoint": "plans_changed", "source": "server"]] == 1)
            #expect(page["starwatch_throttle_wait_seconds_sum", ["source": "server"]] == 300)
        }
    }

    @Test func aRateLimitedAcknowledgementCountsAsThrottled() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(1)
            bench.mock.script(.rateLimited(retryAfter: .seconds(7)), at: .acknowledge)
            #expect(await bench.acknowledge().acknowledged == 0)
            let throttled = await bench.sample(#"starwatch_throttled_total{endpoint="acknowledge",source="server"}"#)
            #expect(throttled == "1")
        }
    }

    @Test func aServerErrorWithoutAWaitIsNotThrottled() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(.status(500), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let page = await agent.page()
            #expect(page["starwatch_throttled_total", ["endpoint": "plans_changed", "source": "server"]] == 0)
        }
    }
}
