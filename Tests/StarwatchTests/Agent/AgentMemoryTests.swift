import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// A reload makes the next agent in the same process, so that nothing of the former one may stay.
@Suite(.timeLimit(.minutes(5))) struct AgentMemoryTests {
    @Test func aClosedAgentIsFreed() async throws {
        try await World.with(.endorser) { world in
            let freed = Signal()
            do {
                world.mock.publish(count: 3)
                let agent = try await Agent(options: world.options, time: WitnessClock(world.clock, end: freed))
                #expect(try await agent.runPoll(World.starred).outcome != "failed")
                await agent.close()
            }
            await freed.wait()
        }
    }

    @Test func aClosedAgentIsFreedThoughWhatTheHostGaveItHoldsIt() async throws {
        struct Clock: Codable, Sendable {}
        struct Actions: NotificationActions {
            let agent: Agent
        }
        try await World.with(.canonical) { world in
            let freed = Signal()
            do {
                let agent = try await Agent(options: world.options, time: WitnessClock(world.clock, end: freed))
                agent.setActionHandler(Actions(agent: agent))
                try await agent.pollManager.schedule(
                    PollSchedule(
                        name: "clock",
                        request: PollRequest<Never, Clock>(endpoint: "/api/v2/time"),
                        timing: .every(.seconds(60))
                    ) {
                        try await agent.pollingContext()
                    } handle: { _, _ in
                    }
                )
                await agent.close()
            }
            await freed.wait()
        }
    }

    @Test func anAgentThatAReloadEndedIsFreed() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let freed = Signal()
            var options = world.options
            options.polls[0].timing = .every(.seconds(3600))
            do {
                let agent = try await Agent(
                    options: options,
                    time: WitnessClock(world.clock, end: freed),
                    reload: { [options] in options }
                )
                async let next = agent.run()
                try await world.mock.waitForRequests(1, to: .plansChanged)
                _ = await agent.page()
                try await agent.reload()
                #expect(try await next == options)
            }
            await freed.wait()
        }
    }
}

/// A clock that says when it is freed: the agent has it, and most of its parts.
private final class WitnessClock: TimeSource {
    private let clock: ManualClock
    private let end: Signal

    init(_ clock: ManualClock, end: Signal) {
        self.clock = clock
        self.end = end
    }

    deinit { end.raise() }

    var now: Timestamp { clock.now }
    var monotonic: Duration { clock.monotonic }
    var boottime: Duration { clock.boottime }

    func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}
