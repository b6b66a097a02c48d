import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct RetryAfterTests {
    /// The seconds between the first two requests, by the mock's clock.
    private func gap(_ world: World) -> Double {
        let times = world.mock.requests(to: .plansChanged).map(\.receivedAt)
        return times.count < 2 ? -1 : times[1].timeIntervalSince(times[0])
    }

    static let waits: [MockRetryAfter] = [
        .seconds(7), .date(in: .seconds(7), form: .imfFixdate), .date(in: .seconds(7), form: .rfc850),
        .date(in: .seconds(7), form: .asctime),
    ]

    @Test(arguments: waits, [0, 0.999])
    func neverEarlierThanTheServerAsks(wait: MockRetryAfter, random: Double) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: random)
            world.mock.script(.rateLimited(retryAfter: wait), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(gap(world) >= 7)
            #expect(gap(world) <= 7.7)
            let page = await agent.page()
            #expect(
                page["starwatch_retries_total", ["endpoint": "plans_changed", "reason": "rate_limited"]] == 1
            )
            #expect(page["starred_projects_rate_limit_total"] == 1)
        }
    }

    @Test(arguments: [3600, -3600], HTTPDateForm.allCases)
    func datesAreRelativeToTheServersClock(skew: Int, form: HTTPDateForm) async throws {
        try await World.with(.canonical, mock: { $0.clockSkew = .seconds(skew) }) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(.rateLimited(retryAfter: .date(in: .seconds(20), form: form)), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(gap(world) >= 20)
            #expect(gap(world) <= 21)
        }
    }

    @Test func a429WithoutRetryAfterWaitsOneMinute() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(.rateLimited(retryAfter: nil), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(gap(world) == 60)
        }
    }

    @Test func a503WithRetryAfterIsRetriedUpToFiveTimes() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent(random: 0)
            let fault = MockFault.status(503, headers: ["Retry-After": "5"])
            world.mock.script(fault, fault, fault, fault, at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(world.clock.slept == [.seconds(5), .seconds(5), .seconds(5), .seconds(5)])
            let page = await agent.page()
            #expect(page["starwatch_retries_total", ["endpoint": "plans_changed", "reason": "unavailable"]] == 4)
            #expect(page["starwatch_circuit_state", ["target": "server"]] == 0)
        }
    }

    @Test func aLongWaitEndsTheCycleAndIsKeptOverARestart() async throws {
        try await World.with(.canonical) { world in
            var agent = try await world.agent(random: 0)
            world.mock.script(.rateLimited(retryAfter: .seconds(600)), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "deferred")
            #expect(world.clock.slept.isEmpty)
            var page = await agent.page()
            let poll = ["poll": World.starred]
            #expect(page["starwatch_poll_failure_total", poll] == 0)
            #expect(page["starwatch_poll_attempts_total", poll] == 1)
            #expect(
                page["starwatch_throttle_until_timestamp_seconds"] == ManualClock.start.seconds + 600
            )

            world.clock.advance(by: .milliseconds(599_999))
            agent = try await world.agent(random: 0)
            let skipped = try await agent.runPoll(World.starred)
            #expect(skipped.outcome == "skipped")
            #expect(skipped.reason == "throttled")
            page = await agent.page()
            #expect(page["starwatch_poll_skipped_total", ["poll": World.starred, "reason": "throttled"]] == 1)
            #expect(
                page["starwatch_throttle_until_timestamp_seconds"] == ManualClock.start.seconds + 600
            )
            #expect(world.mock.requests().count == 1)

            world.clock.advance(by: .milliseconds(1))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(await agent.page()["starwatch_throttle_until_timestamp_seconds"] == 0)
        }
    }

    @Test func aShortWaitIsKeptOverARestartToo() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(.rateLimited(retryAfter: .seconds(100)), at: .plansChanged)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = await agent.cycle() }
                await world.clock.sleepers(atLeast: 1)
                group.cancelAll()
            }
            let next = try await world.agent(random: 0)
            #expect(await next.cycle().skip == .throttled)
            world.clock.advance(by: .seconds(100))
            #expect(await next.cycle().outcome == .bootstrapped)
        }
    }

    @Test func aRetryAfterAppliesToAllRequests() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls.append(PollOptions(name: PollName("offers")!, kind: .offersToMe))
                $0.useTokens(in: world.folder)
            }
            world.mock.script(.rateLimited(retryAfter: .seconds(600)), at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            let other = try await agent.runPoll("offers")
            #expect(other.reason == "throttled")
            #expect(world.mock.requestCount(of: .offersToMe) == 0)
        }
    }
}
