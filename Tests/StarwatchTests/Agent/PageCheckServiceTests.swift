import MockEndorser
import StarwatchStore
import Testing

@testable import Starwatch

/// After an unclean end, the running agent checks the pages of its database.
@Suite struct PageCheckServiceTests {
    private func withAgent(
        _ spoil: (DatabaseOnDisk) throws -> Void = { _ in },
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agentAfterUncleanEnd(spoil)
            #expect(agent.topics.databaseCheck == "running")
            #expect(await agent.page()["starwatch_storage_check_state"] == 1)
            try await body(world, agent)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func anAgentWithASoundDatabaseIsReadyBeforeAndAfterTheCheck() async throws {
        try await withAgent { _ in
        } _: { world, agent in
            async let next = agent.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            while agent.topics.databaseCheck == "running", !Task.isCancelled {
                #expect(await agent.topics.notReady() == [])
                await Task.yield()
            }
            #expect(agent.topics.databaseCheck == "passed")
            #expect(await agent.topics.notReady() == [])
            while await agent.page()["starwatch_storage_check_state"] != 2, !Task.isCancelled { await Task.yield() }
            agent.stop()
            #expect(try await next == nil)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func nothingIsAcknowledgedBeforeTheCheck() async throws {
        try await withAgent { _ in
        } _: { world, agent in
            _ = await agent.runtime.pollService.refresh(agent.runtime.polls[0])
            world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            #expect(await agent.runtime.pollService.refresh(agent.runtime.polls[0]).new == 1)
            world.clock.advance(by: .seconds(3600))
            _ = await agent.runtime.dispatcher.pass()
            let early = await agent.runtime.acknowledger.pass()
            #expect(early.acknowledged == 0)
            #expect(early.next != nil)
            try await agent.store.status.checkPages()
            #expect(await agent.runtime.acknowledger.pass().acknowledged > 0)
            await agent.close()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func damageEndsTheAgentWithTheErrorOfAStart() async throws {
        try await withAgent {
            _ = try $0.damage("history")
        } _: { world, agent in
            let error = await #expect(throws: AgentError.self) { try await agent.run() }
            #expect(error?.kind == .configuration)
            #expect(error?.message.contains("restore a backup") == true)
            #expect(agent.topics.databaseCheck == "damaged")
            #expect(await agent.page()["starwatch_storage_check_state"] == 3)
            #expect(world.log.lines.contains { $0.contains("storage.damaged") })
            let next = await #expect(throws: AgentError.self) {
                try await Agent(options: agent.options, time: world.clock)
            }
            #expect(next?.message == error?.message)
        }
    }
}
