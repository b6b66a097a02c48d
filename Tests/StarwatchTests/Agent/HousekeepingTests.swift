import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Synchronization
import Testing

@testable import Starwatch

@Suite(.timeLimit(.minutes(5))) struct HousekeepingTests {
    /// An agent that is started more often than it cleans would keep everything for ever.
    @Test func itCleansSoonAfterTheStartAndThenAtItsInterval() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let checkpoints = Mutex(0)
            var dependencies = AgentDependencies()
            dependencies.store = { options in
                options.interrupt = { (operation, moment) throws(StoreError) in
                    if operation == .retention, moment == .begun { checkpoints.withLock { $0 += 1 } }
                }
            }
            let agent = try await world.agent(dependencies: dependencies) { $0.outbox.cleanupInterval = .seconds(600) }
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
            #expect(!agent.process.environment.clock.isConfirmed)
            agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.clock.source = .system
            }
            try await #require(agent.worker(HousekeepingService.self)).pass()
            #expect(try await agent.state(of: world.did).fetchCursor == nil)
        }
    }

    /// Every wake-up of an idle agent costs CPU time.
    @Test func anIdleAgentIsCheckedOnceEachHalfMinute() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent()
            world.clock.advance(by: .seconds(7))
            let start = world.clock.now
            let beats = Mutex<[Timestamp]>([])
            let service = housekeeping(of: agent) { beats.withLock { $0.append(world.clock.now) } }
            let task = Task { try await service.run() }
            await world.clock.run(until: ManualClock.start + .seconds(95))
            await world.clock.sleepers(atLeast: 1)
            let looks = [30, 60, 90].map { ManualClock.start + .seconds($0) }
            #expect(beats.withLock { $0 } == [start] + looks)
            task.cancel()
            try await task.value
        }
    }

    /// Also while a service manager is told of progress so often that a check lasts over the time of the work.
    @Test(arguments: [nil, Duration.milliseconds(50)])
    func linesAreStoredWithinTenSeconds(healthInterval: Duration?) async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent()
            let recorder = LogRecorder()
            let service = housekeeping(of: agent, recorder, healthInterval) {
                if healthInterval != nil { world.clock.advance(by: .milliseconds(3)) }
            }
            let task = Task { try await service.run() }
            await world.clock.run(until: ManualClock.start + .seconds(41))
            await world.clock.sleepers(atLeast: 1)
            let line = Array("the line\n".utf8)
            let sleeps = world.clock.slept.count
            let now = world.clock.now.milliseconds
            recorder.take(.init(timestampMilliseconds: now, severity: .warn, event: ""), line: line)
            while world.clock.slept.count == sleeps { await Task.yield() }
            await world.clock.run(until: ManualClock.start + .seconds(52))
            await world.clock.sleepers(atLeast: 1)
            #expect(try await agent.store.logs.list(LogFilter()).contains { $0.entry.line == "the line" })
            task.cancel()
            try await task.value
        }
    }

    private func housekeeping(
        of agent: Agent,
        _ recorder: LogRecorder = LogRecorder(),
        _ healthInterval: Duration? = nil,
        reportHealth: @escaping @Sendable () async -> Void
    ) -> HousekeepingService {
        HousekeepingService(
            outbox: agent.options.outbox,
            environment: agent.process.environment,
            pipeline: agent.process.logs.pipeline,
            recorder: recorder,
            reportHealth: reportHealth,
            healthInterval: healthInterval
        )
    }
}
