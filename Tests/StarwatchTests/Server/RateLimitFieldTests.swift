import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// The field `RateLimit`, from a server that has none of the `X-Rate-Limit-*`.
@Suite struct RateLimitFieldTests {
    private static let spent = ["RateLimit": #""default";r=0;t=30"#]

    @Test func aBudgetThatIsSpentHoldsTheNextPollBeforeAnyRefusal() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent(random: 0)
            let answer = MockFault.status(200, headers: Self.spent, body: #"{"data":[],"hitLimit":false}"#)
            world.mock.script(answer, at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let held = await agent.runtime.account.gate.hold(now: world.clock.now)?.until
            #expect(held == ManualClock.start + .seconds(30))

            world.clock.advance(by: .milliseconds(29_999))
            let early = try await agent.runPoll(World.starred)
            #expect(early.outcome == "skipped")
            #expect(early.reason == "throttled")
            #expect(world.mock.requestCount(of: .plansChanged) == 1)

            world.clock.advance(by: .milliseconds(1))
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            #expect(world.mock.requestCount(of: .plansChanged) == 2)
        }
    }

    @Test func anotherTryWaitsUntilTheBudgetIsRenewed() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent(random: 0)
            world.mock.script(.status(500, headers: Self.spent), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            // The second that the failure costs, and the rest of the thirty.
            #expect(world.clock.slept == [.seconds(1), .seconds(29)])
            #expect(world.mock.requestCount(of: .plansChanged) == 2)
        }
    }
}
