import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct AcknowledgeRequestTests {
    @Test func aServerWithoutAcknowledgementIsRememberedAndTheWatermarkMovesAllTheSame() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 3)
            world.mock.setStickyFault(.status(404), at: .acknowledge)
            #expect(try await agent.runPoll(World.starred).acknowledged == 3)
            #expect(try await agent.state(of: world.did).watermark?.rawValue == ids.last)
            #expect(world.mock.requestCount(of: .acknowledge) == 1)
            world.clock.advance(by: .seconds(60))
            world.mock.publish(count: 1)
            _ = try await agent.runPoll(World.starred)
            #expect(world.mock.requestCount(of: .acknowledge) == 1)
        }
    }

    @Test func theWatermarkWaitsForTheAcknowledgementAndTheKeyStays() async throws {
        try await World.with(.canonical) { world in
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 3)
            world.mock.script(.status(500), .commitThenReset, at: .acknowledge)
            #expect(try await agent.runPoll(World.starred).acknowledged == 0)
            #expect(try await agent.state(of: world.did).watermark == nil)
            world.clock.advance(by: .seconds(10))
            agent = try await world.agent()
            #expect(await agent.runtime.acknowledger.pass().acknowledged == 0)
            world.clock.advance(by: .seconds(10))
            #expect(await agent.runtime.acknowledger.pass().acknowledged == 3)
            #expect(try await agent.state(of: world.did).watermark?.rawValue == ids.last)
            let keys = Set(world.mock.requests(to: .acknowledge).map { $0.header("X-Idempotency-Key") })
            #expect(keys.count == 1)
            #expect(world.mock.appliedAcknowledgements == 1)
            #expect(world.mock.acknowledgedIDs == ids)
        }
    }
}
