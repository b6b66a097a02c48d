import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// A server that answers empty for ever.
@Suite(.timeLimit(.minutes(5))) struct ChangeRhythmsTests {
    private func agent(_ world: World) async throws -> Agent {
        try await world.agent { options in
            options.polls[0].bootstrap = .beginning
            options.clock.source = .system
        }
    }

    @Test func anUnusualSilenceIsANoticeThatRestartsAndRetentionKeep() async throws {
        try await World.with(.endorser) { world in
            var agent = try await agent(world)
            let hour = Duration.seconds(3600)
            for _ in 0..<25 {
                world.mock.publish(count: 1)
                #expect(try await agent.runPoll(World.starred).outcome == "changed")
                world.clock.advance(by: hour * 8)
            }
            world.clock.advance(by: hour * 152)
            _ = try await agent.runPoll(World.starred)
            #expect(await agent.state().notice == nil)
            world.clock.advance(by: hour)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            let notice = "Poll starred_projects has found no change for 6 d 17 h, 20 times its longest gap of 8 h"
            func ratio() async -> Double? {
                await agent.page()["starwatch_poll_silence_ratio", ["poll": World.starred]]
            }
            let status = await agent.state()
            #expect(status.notice == notice && status.reasons == [])
            #expect(await ratio() == 161.0 / 8)
            // A poll that fails has seen nothing.
            world.clock.advance(by: hour)
            world.mock.script(.status(302), at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            #expect(await agent.state().notice == notice)

            agent = try await self.agent(world)
            #expect(await agent.state().notice == notice)
            world.clock.advance(by: hour * 24 * 90)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            try await #require(agent.worker(HousekeepingService.self)).pass()
            agent = try await self.agent(world)
            #expect(await agent.state().notice?.contains("for 96 d") == true)
            #expect(await ratio() ?? 0 > 280)

            world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(await agent.state().notice == nil)
        }
    }

    @Test func nothingIsToldWhereNothingIsUsual() async throws {
        try await World.with(.endorser) { world in
            let agent = try await agent(world)
            world.mock.publish(count: 1)
            _ = try await agent.runPoll(World.starred)
            world.clock.advance(by: .seconds(86_400 * 400))
            _ = try await agent.runPoll(World.starred)
            #expect(await agent.state().notice == nil)
            #expect(await agent.page().values.keys.allSatisfy { $0.name != "starwatch_poll_silence_ratio" })
        }
    }
}
