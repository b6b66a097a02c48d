import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@testable import Starwatch

/// Another worker has taken over the account.
@Suite struct LostLeaseTests {
    /// Otherwise each takeover would show a database that does not work, with advice that does not help.
    @Test func aLostLeaseEndsTheWorkAndTheDatabaseStaysHealthy() async throws {
        try await World.with(.canonical) { world in
            let fault = StoreFault()
            let agent = try await world.agent(dependencies: fault.dependencies)
            #expect(await agent.cycle().outcome == .bootstrapped)
            world.mock.publish([MockChange(planID: world.mock.planIDs[0], name: "Elm")])
            fault.fail(.commit, .claim, .acknowledge, with: .leaseLost)
            let result = await agent.cycle()
            #expect(result.outcome == .cancelled && !result.isStoreFailure)
            _ = await agent.runtime.dispatcher.pass()
            _ = await agent.runtime.acknowledger.pass()
            #expect(!agent.store.health.failsSomePart && agent.store.health.failure == nil)
            #expect(await agent.state().reasons == [])
            fault.fail()
            #expect(await agent.cycle().new == 1)
        }
    }

    @Test func aFeedThatAnotherProcessOwnsIsNoFailureOfTheSink() async throws {
        try await World.with(.canonical) { world in
            let fault = StoreFault()
            let agent = try await world.agent(dependencies: fault.dependencies) { options in
                options.delivery.sinks = [SinkOptions(name: "feed", kind: .feed(keep: 3))]
            }
            #expect(await agent.cycle().outcome == .bootstrapped)
            world.mock.publish([MockChange(planID: world.mock.planIDs[0], name: "Elm")])
            #expect(await agent.cycle().new == 1)
            fault.fail(.delivery, with: .leaseLost)
            _ = await agent.runtime.dispatcher.pass()
            #expect(agent.process.sinks[0].circuit.lastReason == nil && !agent.store.health.failsSomePart)
        }
    }
}
