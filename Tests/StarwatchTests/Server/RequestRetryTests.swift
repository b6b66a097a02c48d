import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct RequestRetryTests {
    private let poll = ["poll": World.starred]

    private func retries(_ page: MetricsPage, _ reason: RetryReason, exhausted: Bool = false) -> Double? {
        page[
            exhausted ? "starwatch_retries_exhausted_total" : "starwatch_retries_total",
            ["endpoint": "plans_changed", "reason": reason.rawValue]
        ]
    }

    private func requests(_ page: MetricsPage, _ result: RequestResult) -> Double? {
        page["starwatch_api_requests_total", ["endpoint": "plans_changed", "result": result.rawValue]]
    }

    @Test(arguments: [(0, [1000, 2000]), (0.5, [2000, 4000]), (1, [3000, 6000])] as [(Double, [Int])])
    func serverErrorsAreTriedAgainByThePolicyAndCountAsOneSuccess(random: Double, delays: [Int]) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent(random: random)
            world.mock.script(.status(500), .status(502), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(world.clock.slept == delays.map { .milliseconds($0) })
            let page = await agent.page()
            #expect(page["starwatch_poll_attempts_total", poll] == 1)
            #expect(page["starwatch_poll_success_total", poll] == 1)
            #expect(page["starwatch_poll_failure_total", poll] == 0)
            #expect(retries(page, .serverError) == 2)
            #expect(retries(page, .serverError, exhausted: true) == 0)
            #expect(requests(page, .serverError) == 2)
            #expect(requests(page, .ok) == 1)
            #expect(page["starwatch_retry_delay_seconds_count"] == 2)
            #expect(
                page["starwatch_retry_delay_seconds_sum"]
                    == Double(delays.reduce(0, +)) / 1000
            )
        }
    }

    @Test func threeTriesAreAllAndTheFailureIsCountedOnce() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            world.mock.setStickyFault(.status(500), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(world.mock.requestCount(of: .plansChanged) == 3)
            let page = await agent.page()
            #expect(retries(page, .serverError) == 2)
            #expect(retries(page, .serverError, exhausted: true) == 1)
            #expect(page["starwatch_poll_failure_total", poll] == 1)
            #expect(page["starwatch_poll_duration_seconds_count", poll] == 1)
            #expect(page["starred_projects_error_total"] == 3)
        }
    }

    @Test(arguments: [500, 429], [1, 2, 4])
    func theConfigurationSaysHowOftenARequestIsTried(status: Int, attempts: Int) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.server.retryAttempts = attempts }
            world.mock.setStickyFault(.status(status, headers: ["Retry-After": "1"]), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(world.mock.requestCount(of: .plansChanged) == attempts)
            // The server's wait is kept.
            if status == 429 { #expect(world.clock.slept.allSatisfy { $0 >= .seconds(1) }) }
        }
    }

    @Test func aRejectedTokenIsRenewedAlsoWithASingleAttempt() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.server.retryAttempts = 1
                $0.useTokens(in: world.folder)
            }
            world.mock.script(.status(401), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(world.mock.requestCount(of: .plansChanged) == 2)
        }
    }

    @Test func aPollThatIsGivenUpWhileItWaitsLeavesItsPlace() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent { $0.limits.requestsPerMinute = 1 }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            async let poll = agent.runPoll(World.starred)
            await world.clock.sleepers(atLeast: 1)
            await agent.runtime.pollService.abort()
            #expect(try await poll.outcome != "unchanged")
            let (gate, now) = (agent.runtime.account.gate, world.clock.now)
            // A millisecond more than the minute, and not another one.
            let turn = try await gate.turn(account: world.did, now: now)
            #expect(turn == .wait(until: now + .milliseconds(60_001), source: .client))
        }
    }

    @Test func aNetworkThatBreaksIsTriedAgainAfterOneAndTwoSeconds() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            world.mock.script(.resetBeforeHead, .resetMidBody(afterBytes: 5), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(world.clock.slept == [.seconds(1), .seconds(2)])
            #expect(retries(await agent.page(), .network) == 2)
        }
    }

    @Test(arguments: [400, 403, 404, 409, 413, 415, 307])
    func whatTheServerRefusesIsTriedOnce(status: Int) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            world.mock.script(.status(status, headers: ["Location": "/elsewhere"]), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(world.mock.requests().count == 1)
            #expect(world.clock.slept.isEmpty)
        }
    }

    @Test func everyTryOfAPageHasTheSameKeyAndItsOwnRequestID() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            world.mock.script(.status(500), .status(500), at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            _ = try await agent.runPoll(World.starred)
            let requests = world.mock.requests(to: .plansChanged)
            #expect(requests.count == 4)
            let keys = requests.map { $0.header("X-Idempotency-Key") }
            #expect(keys.allSatisfy { $0 != nil })
            #expect(Set(keys[0..<3]).count == 1)
            #expect(keys[3] != keys[0])
            #expect(Set(requests.map { $0.header("X-Request-ID") }).count == 4)
            #expect(Set(requests[0..<3].map(\.body)).count == 1)
            #expect(requests.allSatisfy { $0.header("X-Client-Version") != nil && $0.header("User-Agent") != nil })
        }
    }

    @Test func anAnswerOverTheLimitIsTriedOnce() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.server.maxResponseBytes = 100_000 }
            world.mock.script(.oversizedBody(bytes: 5_000_000), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(world.mock.requestCount(of: .plansChanged) == 1)
            #expect(requests(await agent.page(), .tooLarge) == 1)
        }
    }
}
