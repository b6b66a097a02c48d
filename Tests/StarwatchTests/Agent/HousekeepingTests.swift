import MockEndorser
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

@Suite struct HousekeepingTests {
    /// An agent that is started more often than it cleans would keep everything for ever.
    @Test func itCleansSoonAfterTheStartAndThenAtItsInterval() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let checkpoints = Mutex(0)
            var surroundings = AgentSurroundings()
            surroundings.store = { options in
                options.interrupt = { (operation, moment) throws(StoreError) in
                    if operation == .retention, moment == .begun { checkpoints.withLock { $0 += 1 } }
                }
            }
            let agent = try await world.agent(surroundings: surroundings) { $0.outbox.cleanupInterval = .seconds(600) }
            let service = try #require(agent.worker(HousekeepingService.self))
            let task = Task { try await service.run() }
            await world.clock.sleepers(atLeast: 1)
            #expect(checkpoints.withLock { $0 } == 0)
            await world.clock.run(until: ManualClock.start + .seconds(311))
            await world.clock.sleepers(atLeast: 1)
            let once = checkpoints.withLock { $0 }
            #expect(once > 0)
            await world.clock.run(until: ManualClock.start + .seconds(800))
            await world.clock.sleepers(atLeast: 1)
            #expect(checkpoints.withLock { $0 } == once)
            await world.clock.run(until: ManualClock.start + .seconds(931))
            await world.clock.sleepers(atLeast: 1)
            #expect(checkpoints.withLock { $0 } == 2 * once)
            task.cancel()
            try await task.value
        }
    }

    /// A machine that starts with a clock of years ahead, and a server that is away.
    @Test func aClockThatNobodyConfirmedDeletesNothingIrreplaceable() async throws {
        try await World.with(.canonical) { world in
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 2)
            _ = try await agent.runPoll(World.starred)
            let cursor = try await agent.state(of: world.did).fetchCursor
            #expect(cursor != nil)
            world.clock.advance(by: .days(3 * 365))
            agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            try await #require(agent.worker(HousekeepingService.self)).pass()
            #expect(try await agent.state(of: world.did).fetchCursor == cursor)
            #expect(!agent.clock.isConfirmed)
            agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.clock.source = .system
            }
            try await #require(agent.worker(HousekeepingService.self)).pass()
            #expect(try await agent.state(of: world.did).fetchCursor == nil)
        }
    }
}
