import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// The first run of a poll, which finds its starting point, does not wait for the schedule.
@Suite(.timeLimit(.minutes(5))) struct FirstRunTests {
    private func polls(_ world: World) -> Int { world.mock.requestCount(of: .plansChanged) }

    private func runs(_ agent: Agent) async -> Double? {
        await agent.page()["starwatch_schedule_runs_total", ["poll": World.starred, "outcome": "on_time"]]
    }

    /// The first run of a poll of every 15 minutes is at 12:00:10, and its second one at 12:15.
    @Test(arguments: MockDialect.allCases)
    func changesBetweenTheStartAndTheFirstScheduledRunAreAnnounced(dialect: MockDialect) async throws {
        try await World.with(dialect, clock: .waiting) { world in
            world.mock.publish(count: 2)
            world.clock.advance(by: .seconds(10))
            let agent = try await world.agent { $0.polls[0].splay = .seconds(60) }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
                let isFound = try await agent.state(of: world.did).bootstrapped
                #expect(isFound)
                #expect(await runs(agent) == 0)
                await world.clock.run(until: ManualClock.start + .seconds(120))
                let ids = world.mock.publish(count: 3)
                await world.clock.run(until: ManualClock.start + .seconds(899))
                #expect(polls(world) == 1)
                await world.clock.run(until: ManualClock.start + .seconds(960))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
                #expect(await runs(agent) == 1)
                let (waiting, silent) = (try await agent.rows([.pending]), try await agent.rows([.suppressed]))
                #expect(Set(waiting) == Set(ids))
                #expect(Set(silent).isDisjoint(with: ids))
            }
        }
    }

    @Test func laterStartsKeepToTheSchedule() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            world.clock.advance(by: .seconds(10))
            for _ in 1...2 {
                let agent = try await world.agent()
                try await following(agent) {
                    await world.clock.sleepers(atLeast: 1)
                    await world.clock.run(until: world.clock.now + .seconds(60))
                    #expect(polls(world) == 1)
                }
            }
        }
    }

    /// All of its changes are announced, so none can be missed.
    @Test func aPollThatBeginsAtTheBeginningWaitsForItsSchedule() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            world.clock.advance(by: .seconds(10))
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 0)
            }
        }
    }

    @Test(arguments: [PollTiming.cron("0 8 * * *", timezone: "UTC"), .every(.seconds(3600))])
    func anIdentityThatSignsInStartsAsSoonAsItHasStars(timing: PollTiming) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            world.clock.advance(by: .seconds(10))
            let agent = try await world.agent { $0.polls[0].timing = timing }
            try await following(agent) {
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 1)
                let now = world.clock.now
                _ = try await agent.setIdentity(World.other)
                _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: world.mock.planIDs))
                try await world.mock.waitForRequests(2, to: .plansChanged)
                await world.clock.sleepers(atLeast: 1)
                #expect(world.clock.now == now)
                #expect(try await agent.state(of: World.other).bootstrapped)
                // The former identity has its starting point already.
                _ = try await agent.setIdentity(world.did)
                await world.clock.run(until: now + .seconds(60))
                await world.clock.sleepers(atLeast: 1)
                #expect(polls(world) == 2)
            }
        }
    }

    @Test func aFirstRunThatCannotReachTheServerIsMadeAgainSoon() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            world.clock.advance(by: .seconds(10))
            let agent = try await world.agent { $0.polls[0].timing = .cron("0 8 * * *", timezone: "UTC") }
            try await world.mock.stop()
            try await following(agent) {
                await world.clock.run(until: ManualClock.start + .seconds(60))
                try await world.mock.start()
                await world.clock.run(until: world.clock.now + .seconds(60))
                await world.clock.sleepers(atLeast: 1)
                #expect(try await agent.state(of: world.did).bootstrapped)
            }
        }
    }
}
