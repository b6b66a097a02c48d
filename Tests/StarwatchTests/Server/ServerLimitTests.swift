import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// The agent keeps the server's limits and waits, and shows them.
@Suite struct ServerLimitTests {
    @Test(arguments: [500, 429])
    func theBudgetOfAFailureCountsUnlessItSaysItselfHowLong(status: Int) async throws {
        try await World.with(.canonical) { world async throws in
            var agent = try await world.agent(random: 0)
            var headers = ["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "600"]
            if status == 429 { headers["Retry-After"] = "130" }
            world.mock.script(.status(status, headers: headers), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "deferred")
            #expect(world.mock.requestCount(of: .plansChanged) == 1)
            let held = await agent.runtime.account.gate.hold(now: world.clock.now)?.until
            if status == 429 {
                #expect(held == ManualClock.start + .seconds(130))
            } else {
                #expect(held == ManualClock.start + .seconds(600))
            }
            agent = try await world.agent(random: 0)
            #expect(await agent.runtime.account.gate.hold(now: world.clock.now)?.until == held)
        }
    }

    @Test func theServersOwnBudgetSlowsUsBeforeItRefuses() async throws {
        try await World.with(.canonical, mock: { $0.requestsPerMinute = 12 }) { world in
            let agent = try await world.agent()
            for _ in 0..<60 {
                _ = await agent.cycle()
                world.clock.advance(by: .seconds(2))
            }
            // The mock refuses from the thirteenth in a minute.
            let page = await agent.page()
            #expect(
                page["starwatch_api_requests_total", ["endpoint": "plans_changed", "result": "rate_limited"]] == 0
            )
            #expect(world.mock.requestCount(of: .plansChanged) >= 16)
        }
    }

    @Test func theWindowSurvivesRestartsAndCountsEveryRequest() async throws {
        try await World.with(.canonical) { world in
            for _ in 0..<12 {
                let agent = try await world.agent {
                    $0.limits.requestsPerMinute = 5
                    $0.polls[0].bootstrap = .beginning
                }
                world.clock.advance(by: .seconds(2))
                world.mock.publish(count: 1)
                _ = try await agent.runPoll(World.starred)
            }
            let sent = world.mock.requests().map { Int64($0.receivedAt.timeIntervalSince1970 * 1000) }
            #expect(world.mock.requestCount(of: .acknowledge) >= 5)
            #expect(sent.allSatisfy { end in sent.count { end - 60_000...end ~= $0 } <= 5 })
        }
    }

    @Test(arguments: [MockRetryAfter.seconds(999_999_999), .date(in: .seconds(999_999_999), form: .imfFixdate)])
    func aWaitOfYearsIsCappedAtSevenDaysAndLogged(wait: MockRetryAfter) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0) { $0.log.level = .warning }
            world.mock.script(.rateLimited(retryAfter: wait), at: .plansChanged)
            let start = world.clock.now
            #expect(await agent.cycle().outcome == .deferred)
            let week = Duration.seconds(7 * 86_400)
            #expect(await agent.runtime.account.gate.hold(now: start)?.until == start + week)
            #expect(try await agent.store.servers.state(world.mock.url).notBefore == start + week)
            await world.log.wait(for: "server.wait_capped")
            let line = try #require(world.log.lines.first { $0.contains("server.wait_capped") })
            #expect(line.contains("plans_changed"))
            world.clock.advance(by: week)
            #expect(await agent.cycle().outcome == .bootstrapped)
        }
    }

    @Test func aWaitOfAMinuteOrMoreIsAWarningOnce() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0) { $0.log.level = .warning }
            world.mock.script(.rateLimited(retryAfter: .seconds(59)), at: .plansChanged)
            // The cycle waits, and then succeeds.
            #expect(await agent.cycle().outcome == .bootstrapped)
            world.mock.script(.rateLimited(retryAfter: .seconds(600)), at: .plansChanged)
            #expect(await agent.cycle().outcome == .deferred)
            #expect(await agent.cycle().skip == .throttled)
            await world.log.wait(for: "server.wait")
            agent.process.logs.pipeline.flush()
            let lines = world.log.lines.filter { $0.contains("\"server.wait\"") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("600000") == true)
        }
    }

    @Test func anOperatorEndsTheServersWaitAlsoTheStoredOne() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(.rateLimited(retryAfter: .seconds(3600)), at: .plansChanged)
            #expect(await agent.cycle().outcome == .deferred)
            let end = await agent.runtime.account.gate.hold(now: world.clock.now)?.until
            #expect(try await agent.perform(ControlAPI.clearServerWait).waitedUntil == end?.iso8601)
            #expect(try await agent.store.servers.state(world.mock.url).notBefore == nil)
            #expect(await agent.page()["starwatch_throttle_until_timestamp_seconds"] ?? 0 == 0)
            #expect(await agent.cycle().outcome == .bootstrapped)
            #expect(try await agent.perform(ControlAPI.clearServerWait).waitedUntil == nil)
        }
    }

    /// No cycle ends while polls are held, so that somebody else has to see to it.
    @Test func aWaitThatCouldNotBeStoredIsStoredWhileItLasts() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let fault = StoreFault()
            let agent = try await world.agent(random: 0, dependencies: fault.dependencies)
            world.mock.script(.rateLimited(retryAfter: .seconds(3600)), at: .plansChanged)
            fault.fail(.server)
            #expect(await agent.cycle().outcome == .deferred)
            let server = world.mock.url
            #expect(try await agent.store.servers.state(server).notBefore == nil)
            fault.fail()
            let service = try #require(agent.worker(ClockSyncService.self))
            let task = Task { try await service.run() }
            await world.clock.sleepers(atLeast: 1)
            await world.clock.run(until: world.clock.now + .seconds(31))
            await world.clock.sleepers(atLeast: 1)
            task.cancel()
            try await task.value
            #expect(try await agent.store.servers.state(server).notBefore == ManualClock.start + .seconds(3600))
        }
    }

    /// Another request's answer may come while the token is made, or while the store is busy.
    @Test func aWaitThatBeginsWhileTheTokenIsMadeIsKept() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            let (api, clock) = (agent.runtime.account.api, world.clock)
            let tokens = BusyTokens {
                await api.gate.hold(until: clock.now + .seconds(60), now: clock.now)
            }
            let slow = EndorserAPI(
                client: api.client,
                gate: api.gate,
                tokens: tokens,
                assumedDialect: .canonical,
                requester: api.requester,
                environment: api.environment
            )
            let request = EndorserRequest(.time, of: world.did, runID: "run_of_the_test")
            guard case .success = await slow.answer(to: request, dialect: .canonical, { _, _ in .success(()) }).0 else {
                Issue.record("There was no answer.")
                return
            }
            let sent = try #require(world.mock.requests().last)
            #expect(sent.receivedAt.timeIntervalSince1970 >= (ManualClock.start + .seconds(60)).seconds)
        }
    }
}
