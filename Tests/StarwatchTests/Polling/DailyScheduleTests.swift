import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@testable import Starwatch

/// The schedule of a daily poll whose database fails, or whose outbox is full, at its time.
@Suite struct DailyScheduleTests {
    private func polls(_ world: World) -> Int { world.mock.requestCount(of: .plansChanged) }

    /// Runs a daily poll whose changes cannot be stored from its time on.
    private func failingAtItsTime(
        _ body: (World, Agent, StoreFault, _ due: Timestamp) async throws -> Void
    ) async throws {
        try await followingADailyPoll { world, agent, fault, due in
            await world.clock.run(until: due - .seconds(1))
            fault.fail(.commit)
            try await body(world, agent, fault, due)
        }
    }

    /// Runs a daily poll, for which there is a change, and whose store can be made to fail.
    private func followingADailyPoll(
        _ body: (World, Agent, StoreFault, _ due: Timestamp) async throws -> Void
    ) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let fault = StoreFault()
            let agent = try await world.agent(random: 0, dependencies: fault.dependencies) {
                $0.polls[0].timing = .cron("0 8 * * *", timezone: "UTC")
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish(count: 1)
            try await following(agent) { try await body(world, agent, fault, nextEight) }
        }
    }

    /// Eight o'clock, UTC, of the day after the start.
    private let nextEight = Timestamp(
        milliseconds: (ManualClock.start.milliseconds / 86_400_000 * 24 + 32) * 3_600_000
    )

    @Test func aCycleWhoseDatabaseFailedIsMadeAgainSoon() async throws {
        try await failingAtItsTime { world, agent, fault, due in
            await world.clock.run(until: due + .seconds(5))
            await world.clock.sleepers(atLeast: 1)
            #expect(polls(world) == 1)
            fault.fail()
            await world.clock.run(until: due + .seconds(16))
            await world.clock.sleepers(atLeast: 1)
            #expect(polls(world) == 2)
            let waiting = try await agent.rows([.pending]).count
            #expect(waiting == 1)
        }
    }

    /// If only some writes fail, each retry sends a request without a result.
    @Test func aCycleWhoseDatabaseGoesOnFailingIsMadeEverMoreRarely() async throws {
        try await failingAtItsTime { world, _, _, due in
            // At 0, 10, 30, 70, 150, 310, 630 and 1270 s, and every 640 s from then on.
            await world.clock.run(until: due + .seconds(1300))
            await world.clock.sleepers(atLeast: 1)
            #expect(polls(world) == 8)
            await world.clock.run(until: due + .seconds(3600))
            await world.clock.sleepers(atLeast: 1)
            #expect(polls(world) == 11)
        }
    }

    @Test func whatFoundNoRoomIsFetchedWhenThereIsRoomAndNotAtTheNextRun() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent {
                $0.polls[0].timing = .cron("0 8 * * *", timezone: "UTC")
                $0.polls[0].bootstrap = .beginning
                $0.outbox.maxUndelivered = 10
            }
            world.mock.publish(count: 15)
            try await following(agent) {
                await world.clock.run(until: nextEight + .seconds(150))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
                let waiting = try await agent.rows([.pending]).count
                #expect(waiting == 10)
                #expect(await agent.runtime.dispatcher.pass().delivered == 10)
                await world.clock.run(until: nextEight + .seconds(240))
                await world.clock.sleepers(atLeast: 1)
                let left = try await agent.rows([.pending]).count
                #expect(left == 5)
            }
        }
    }

    /// One by hand, or for a digest: whoever began it does not try again.
    @Test(.timeLimit(.minutes(5)))
    func aRunForWhichAnotherCycleStoodIsMadeWhenThatOneFails() async throws {
        try await followingADailyPoll { world, agent, fault, due in
            world.mock.script(.rateLimited(retryAfter: .seconds(30)), at: .plansChanged)
            await world.clock.run(until: due - .seconds(10))
            let byHand = Task { await agent.cycle() }
            await world.clock.run(until: due - .seconds(1), tasks: 2)
            world.clock.advance(by: .seconds(2))
            await world.clock.sleepers(atLeast: 1)
            #expect(polls(world) == 1)
            fault.fail(.commit)
            world.clock.advance(by: .seconds(20))
            #expect(await byHand.value.outcome == .failed)
            fault.fail()
            await world.clock.run(until: due + .seconds(40))
            await world.clock.sleepers(atLeast: 1)
            #expect(polls(world) == 3)
            // One that succeeds is not made again.
            await world.clock.run(until: due + .seconds(3600))
            await world.clock.sleepers(atLeast: 1)
            #expect(polls(world) == 3)
            #expect(await agent.page()["starwatch_poll_success_total", ["poll": World.starred]] == 1)
        }
    }

    /// And what the one before had left to it.
    @Test(.timeLimit(.minutes(5)))
    func aCycleThatIsToBeMadeAgainIsSoThoughAnotherIsUnderWayThen() async throws {
        try await failingAtItsTime { world, agent, fault, due in
            await world.clock.run(until: due + .seconds(5))
            await world.clock.sleepers(atLeast: 1)
            fault.fail()
            world.mock.script(.rateLimited(retryAfter: .seconds(30)), at: .plansChanged)
            let byHand = Task { await agent.cycle() }
            await world.clock.run(until: due + .seconds(9), tasks: 2)
            world.clock.advance(by: .seconds(2))
            await world.clock.sleepers(atLeast: 1)
            fault.fail(.commit)
            world.clock.advance(by: .seconds(26))
            #expect(await byHand.value.outcome == .failed)
            fault.fail()
            await world.clock.run(until: due + .seconds(80))
            await world.clock.sleepers(atLeast: 1)
            let waiting = try await agent.rows([.pending]).count
            #expect(waiting == 1)
        }
    }
}
