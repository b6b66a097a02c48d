import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct ScheduleTests {
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

    @Test(arguments: [-7200, 7200])
    func theStatusTellsTheNextRunByTheClockThatWasSet(seconds: Int64) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent { $0.polls[0].timing = .every(.seconds(60)) }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                world.clock.setWall(to: world.clock.now + .seconds(seconds))
                let status = await agent.topics.status.status()
                let next = try #require(status.polls[World.starred]?.nextRun.flatMap { Timestamp(iso8601: $0) })
                let now = try #require(Timestamp(iso8601: status.now))
                #expect(now <= next && next <= now + .seconds(60))
            }
        }
    }

    @Test func cronRunsAtItsTimeAndSleepsThirtySecondsAtMost() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            world.clock.advance(by: .seconds(61))
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
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
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
            }
            // Down over 12:30 and 12:45 and 13:00.
            world.clock.advance(by: .seconds(3000))
            agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.polls[0].catchUp = catchUp
            }
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

    @Test func aDatabaseThatFailsAtStartSkipsNoMissedRun() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
            }
            world.clock.advance(by: .seconds(1000))
            let fault = StoreFault()
            agent = try await world.agent(dependencies: fault.dependencies) {
                $0.polls[0].bootstrap = .beginning
            }
            fault.fail(.pollState)
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                fault.fail()
                await world.clock.run(until: world.clock.now + .seconds(10))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
            }
            #expect(runs(await agent.page()) == ["late": 1])
        }
    }

    @Test(arguments: CatchUp.allCases)
    func runsOfAnIntervalMissedWhileTheAgentWasDownAreCounted(catchUp: CatchUp) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let interval = PollTiming.every(.seconds(900))
            var agent = try await world.agent { $0.polls[0].timing = interval }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
            }
            // Down over the runs after 900, 1800 and 2700 s.
            world.clock.advance(by: .seconds(3000))
            agent = try await world.agent {
                $0.polls[0].timing = interval
                $0.polls[0].catchUp = catchUp
                $0.log.level = .notice
            }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
            }
            // The run of the start stands for the latest of them.
            let missed: Double = catchUp == .latest ? 2 : 3
            #expect(runs(await agent.page()) == ["missed": missed, "on_time": 1])
            await world.stopAgent()
            let lines = world.log.lines.filter { $0.contains("\"poll.runs_missed\"") }
            #expect(lines.count == 1 && lines.first?.contains("\"count\":\(Int(missed))") == true, "\(lines)")
            #expect(lines.allSatisfy { LogSchema.problems(of: $0).isEmpty })
        }
    }

    @Test(arguments: [PollTiming.every(.seconds(900)), .cron("*/15 * * * *", timezone: "UTC")])
    func skippedRunsAreNotMissedAtTheNextStart(timing: PollTiming) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var agent = try await world.agent { $0.polls[0].timing = timing }
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) > 0)
                _ = try await agent.updateStars([])
                await world.clock.run(until: ManualClock.start + .seconds(4 * 3600))
                await world.clock.sleepers(atLeast: 1)
            }
            // The skips are written without making anybody wait.
            try await agent.store.status.probe()
            world.clock.advance(by: .seconds(10))
            agent = try await world.agent { $0.polls[0].timing = timing }
            try await following(agent) { await world.clock.sleepers(atLeast: 1) }
            #expect(runs(await agent.page())["missed"] == nil)
        }
    }

    @Test func aClockSetForwardRunsOnceForAllThatWasSkipped() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
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
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
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

    @Test func runsThatFallDueDuringACycleAreOne() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls[0].timing = .cron("* * * * *", timezone: "UTC")
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.script(.rateLimited(retryAfter: .seconds(110)), at: .plansChanged)
            try await following(agent) {
                // The cycle of the first minute sits out its wait over the second minute.
                await world.clock.run(until: ManualClock.start + .seconds(171))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
                #expect(runs(await agent.page()) == ["on_time": 1, "coalesced": 1])
                await world.clock.run(until: ManualClock.start + .seconds(180))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 3)
            }
            #expect(runs(await agent.page()) == ["on_time": 2, "coalesced": 1])
        }
    }

    @Test func theSplayDelaysEveryRunByTheSameAndStaysOverARestart() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var delays: [Duration] = []
            for count in 1...2 {
                let agent = try await world.agent {
                    $0.polls[0].bootstrap = .beginning
                    $0.polls[0].splay = .seconds(600)
                }
                let splay = agent.starred.splay
                delays.append(splay)
                let due = ManualClock.start + .seconds(900 * count) + splay
                try await following(agent) {
                    await world.clock.run(until: due - .milliseconds(1))
                    #expect(polls(world) == count - 1)
                    await world.clock.run(until: due)
                    await world.clock.sleepers(atLeast: 1)
                    #expect(polls(world) == count)
                    let next = await agent.page()[
                        "starwatch_poll_next_run_timestamp_seconds",
                        ["poll": World.starred]
                    ]
                    #expect(next == (due + .seconds(900)).seconds)
                }
            }
            #expect(delays[0] == delays[1])
            #expect(delays[0] > .zero)
        }
    }

    @Test func aClockSetBackDoesNotStopThePolls() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(1000))
                #expect(polls(world) == 1)
                world.clock.setWall(to: ManualClock.start - .seconds(30 * 86_400 - 100))
                world.mock.clockSkew = .seconds(30 * 86_400)
                await world.clock.run(until: ManualClock.start - .seconds(30 * 86_400 - 900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
            }
        }
    }

    /// Times stored by a clock one month ahead do not delay polls by a month.
    @Test(arguments: [false, true])
    func whatAClockThatWasAheadStoredIsNotWaitedFor(isThrottled: Bool) async throws {
        let ahead = Duration.seconds(30 * 86_400)
        try await World.with(.canonical, clock: .waiting, mock: { $0.clockSkew = .zero - ahead }) { world in
            var agent = try await world.agent(random: 0) { $0.polls[0].bootstrap = .beginning }
            if isThrottled { world.mock.script(.rateLimited(retryAfter: .seconds(600)), at: .plansChanged) }
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
            }
            // Down for ten seconds, in which the clock is put right.
            world.clock.advance(by: .seconds(10))
            world.clock.setWall(to: world.clock.now - ahead)
            world.mock.clockSkew = .zero
            let restart = world.clock.now
            agent = try await world.agent(random: 0) { $0.polls[0].bootstrap = .beginning }
            try await following(agent) {
                let held = await agent.runtime.account.gate.hold(now: restart)?.until
                if isThrottled {
                    // The server's wait is kept, and not much prolonged.
                    let wait = try #require(held) - restart
                    #expect(wait >= .seconds(590) && wait <= .seconds(602))
                } else {
                    #expect(held == nil)
                }
                await world.clock.run(until: restart + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
                #expect(await agent.page()["starwatch_poll_success_total", ["poll": World.starred]] == 1)
            }
            // The shortened wait is stored.
            agent = try await world.agent(random: 0) { $0.polls[0].bootstrap = .beginning }
            #expect(await agent.runtime.account.gate.hold(now: world.clock.now)?.until == nil)
        }
    }

    /// Of all polls, though one of them tries the server first and the others have to wait for what comes of it.
    @Test func recoveryTakesLessThanThirtySecondsAfterTheNetworkReturns() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent {
                $0.polls[0].timing = .cron("0 * * * *", timezone: "UTC")
                var offers = PollOptions(name: PollName("offers")!, kind: .offersToMe)
                offers.timing = $0.polls[0].timing
                $0.polls.append(offers)
                $0.useTokens(in: world.folder)
            }
            try await world.mock.stop()
            world.clock.advance(by: .seconds(3599))
            let turns = Turns()
            func run(until end: Timestamp) async {
                await world.clock.run(until: end) { turns.ofTwoIsBusy(world.clock) }
                while turns.ofTwoIsBusy(world.clock) { await Task.yield() }
            }
            try await following(agent, turns) {
                await run(until: ManualClock.start + .seconds(3600 + 600))
                // Open, or half open while one of them tries.
                #expect(await agent.runtime.account.gate.circuit.state != .closed)
                try await world.mock.start()
                await run(until: world.clock.now + .milliseconds(29_999))
                for poll in [World.starred, "offers"] {
                    #expect(await agent.page()["starwatch_poll_success_total", ["poll": poll]] == 1)
                }
            }
        }
    }

    @Test func aDeferredCycleGoesOnWhenItsTimeHasComeNotAtTheNextRun() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent(random: 0) {
                $0.polls[0].timing = .cron("0 * * * *", timezone: "UTC")
                $0.polls[0].bootstrap = .beginning
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
