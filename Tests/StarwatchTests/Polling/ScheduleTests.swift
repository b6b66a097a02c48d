import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct ScheduleTests {
    /// Runs the schedules while `body` lets time pass, then stops them.
    private func following(_ agent: Agent, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let service = agent.pollService
            group.addTask { try await service.run() }
            let result: Result<Void, any Error>
            do {
                try await body()
                result = .success(())
            } catch {
                result = .failure(error)
            }
            group.cancelAll()
            try await group.waitForAll()
            try result.get()
        }
    }

    private func polls(_ world: World) -> Int { world.mock.requestCount(of: .plansChanged) }

    private func runs(_ page: MetricsPage) -> [String: Double] {
        var counts: [String: Double] = [:]
        for outcome in ScheduleOutcome.allCases {
            let labels = ["poll": World.starred, "outcome": outcome.rawValue]
            let value = page["starwatch_schedule_runs_total", labels] ?? -1
            if value != 0 { counts[outcome.rawValue] = value }
        }
        return counts
    }

    @Test func anIntervalRunsAtStartAndThenAtItsPace() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent { $0.polls[0].timing = .every(.seconds(60)) }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
                #expect(world.clock.now == ManualClock.start)
                await world.clock.run(until: ManualClock.start + .milliseconds(59_999))
                #expect(polls(world) == 1)
                await world.clock.run(until: ManualClock.start + .seconds(60))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
                await world.clock.run(until: ManualClock.start + .seconds(599))
                #expect(polls(world) == 10)
            }
            #expect(runs(await agent.page()) == ["on_time": 10])
        }
    }

    @Test func aRestartedIntervalRunsAtOnce() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            for count in 1...2 {
                let agent = try await world.agent { $0.polls[0].timing = .every(.seconds(3600)) }
                try await following(agent) {
                    await world.clock.sleepers(atLeast: 1)
                    #expect(polls(world) == count)
                }
                world.clock.advance(by: .seconds(10))
            }
        }
    }

    @Test func cronRunsAtItsTimeAndSleepsThirtySecondsAtMost() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            world.clock.advance(by: .seconds(61))
            let agent = try await world.agent()
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .milliseconds(899_999))
                #expect(polls(world) == 0)
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
                await world.clock.run(until: ManualClock.start + .seconds(3 * 3600))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 12)
            }
            #expect(world.clock.slept.allSatisfy { $0 <= .seconds(30) })
            let page = await agent.page()
            #expect(runs(page) == ["on_time": 12])
            #expect(page["starwatch_poll_interval_seconds", ["poll": World.starred]] == 900)
            #expect(
                page["starwatch_poll_next_run_timestamp_seconds", ["poll": World.starred]]
                    == ManualClock.start.seconds + 3 * 3600 + 900
            )
        }
    }

    @Test(arguments: CatchUp.allCases)
    func missedRunsAreCaughtUpOnceOrNotAtAll(catchUp: CatchUp) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var agent = try await world.agent()
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
            }
            // Down over 12:30 and 12:45 and 13:00.
            world.clock.advance(by: .seconds(3000))
            agent = try await world.agent { $0.polls[0].catchUp = catchUp }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == (catchUp == .latest ? 2 : 1))
                await world.clock.run(until: ManualClock.start + .seconds(4500))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == (catchUp == .latest ? 3 : 2))
            }
            let expected =
                catchUp == .latest
                ? ["late": 1, "missed": 2, "on_time": 1] as [String: Double] : ["missed": 3, "on_time": 1]
            #expect(runs(await agent.page()) == expected)
        }
    }

    @Test func aClockSetForwardRunsOnceForAllThatWasSkipped() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent()
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                world.clock.setWall(to: ManualClock.start + .seconds(7200 + 120))
                world.clock.advance(by: .seconds(30))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
            }
        }
    }

    @Test func aSuspendedMachineCatchesUpWithinThirtySeconds() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent()
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                world.clock.suspend(for: .seconds(8 * 3600))
                #expect(polls(world) == 0)
                world.clock.advance(by: .seconds(30))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
            }
        }
    }

    @Test func recoveryTakesLessThanThirtySecondsAfterTheNetworkReturns() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent {
                $0.polls[0].timing = .cron("0 * * * *", timezone: "UTC")
            }
            try await world.mock.stop()
            world.clock.advance(by: .seconds(3599))
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(3600 + 600))
                await world.clock.sleepers(atLeast: 1)
                #expect(await agent.page()["starwatch_poll_failure_total", ["poll": World.starred]] ?? 0 >= 5)
                try await world.mock.start()
                let back = world.clock.now
                await world.clock.run(until: back + .milliseconds(29_999))
                await world.clock.sleepers(atLeast: 1)
                #expect(await agent.page()["starwatch_poll_success_total", ["poll": World.starred]] == 1)
            }
        }
    }

    @Test func aDeferredCycleGoesOnWhenItsTimeHasComeNotAtTheNextRun() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls[0].timing = .cron("0 * * * *", timezone: "UTC")
            }
            world.mock.script(.rateLimited(retryAfter: .seconds(300)), at: .plansChanged)
            world.clock.advance(by: .seconds(3599))
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(3600 + 299))
                #expect(polls(world) == 1)
                await world.clock.run(until: ManualClock.start + .seconds(3600 + 301))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
            }
            let page = await agent.page()
            #expect(page["starwatch_poll_outcomes_total", ["poll": World.starred, "outcome": "deferred"]] == 1)
            #expect(page["starwatch_poll_success_total", ["poll": World.starred]] == 1)
        }
    }
}
