import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Testing

@testable import Starwatch

@Suite struct AgentRunTests {
    @Test func aReloadEndsTheRunWithTheNewOptions() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var changed = world.options
            changed.polls[0].timing = .every(.seconds(60))
            changed.outbox.maxUndelivered = 7
            let agent = try await Agent(
                options: {
                    var options = world.options
                    options.polls[0].timing = .every(.seconds(30))
                    return options
                }(),
                time: world.clock,
                reload: { [changed] in changed }
            )
            async let next = agent.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            try await agent.reload()
            #expect(try await next == changed)
            // The database is free for the next agent.
            let second = try await world.agent { $0 = changed }
            #expect(await second.page()["starwatch_outbox_capacity_rows"] == 7)
        }
    }

    @Test(arguments: [(1, 0), (Int.max, 1)])
    func anAgentThatMayOpenTooFewFilesSaysSoAtItsStart(polls: Int, lines: Int) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var options = world.options
            options.limits.maxConcurrentPolls = polls
            options.polls[0].timing = .every(.seconds(3600))
            options.log.level = .warning
            let agent = try await Agent(options: options, time: world.clock, logSinks: [world.log])
            async let next = agent.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            agent.stop()
            #expect(try await next == nil)
            #expect(world.log.lines.count { $0.contains("\"agent.open_files_low\"") } == lines)
        }
    }

    @Test func aReloadThatFailsOrChangesWhatCannotChangeIsRefusedAsAWhole() async throws {
        try await World.with(.endorser) { world in
            let options = world.options
            for isBroken in [true, false] {
                let agent = try await Agent(
                    options: options,
                    time: world.clock,
                    reload: { () throws(AgentError) in
                        if isBroken { throw AgentError(.configuration, "polls: is missing.") }
                        var moved = options
                        moved.storage.path += ".moved"
                        moved.outbox.maxUndelivered = 7
                        return moved
                    },
                    dependencies: AgentDependencies().patient
                )
                #expect(await agent.page()["starwatch_config_last_reload_successful"] == 1)
                let error = await #expect(throws: ControlError.self) { try await agent.reload() }
                #expect(error?.kind == .invalid)
                let page = await agent.page()
                #expect(page["starwatch_config_last_reload_successful"] == 0)
                #expect(page["starwatch_outbox_capacity_rows"] == 1000)
                #expect(page["starwatch_control_requests_total", ["operation": "reload", "result": "failed"]] == 1)
                #expect(try await agent.runPoll(World.starred).outcome != "failed")
                await agent.close()
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aCycleThatTheEndOfTheRunCancelsIsNoFailure() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var options = world.options
            options.polls[0].timing = .every(.seconds(3600))
            options.log.level = .debug
            world.mock.script(.neverAnswer, at: .plansChanged)
            let agent = try await Agent(options: options, time: world.clock, logSinks: [world.log])
            async let next = agent.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            agent.stop()
            #expect(try await next == nil)
            let page = MetricsPage(agent.metrics.registry.page(.text))
            let poll = ["poll": World.starred]
            #expect(page["starwatch_poll_attempts_total", poll] == 1)
            #expect(page["starwatch_poll_failure_total", poll] == 0)
            #expect(page["starred_projects_poll_failure_total"] == 0)
            #expect(page["starred_projects_error_total"] == 0)
            for outcome in PollOutcome.allCases {
                let count = page["starwatch_poll_outcomes_total", ["poll": World.starred, "outcome": outcome.rawValue]]
                #expect(count == (outcome == .cancelled ? 1 : 0), "\(outcome)")
            }
            #expect(!world.log.lines.contains { $0.contains("poll.failed") })
            #expect(world.log.lines.contains { $0.contains("poll.cancelled") })
            let after = try await world.agent()
            #expect(await after.state().polls[World.starred]?.lastOutcome == "cancelled")
        }
    }

    @Test func whatTheLastPollBroughtIsDeliveredBeforeTheEnd() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var options = world.options
            options.polls[0].timing = .every(.seconds(3600))
            options.polls[0].bootstrap = .beginning
            let ids = world.mock.publish(count: 3)
            let agent = try await Agent(options: options, time: world.clock, reload: { [options] in options })
            async let next = agent.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            await world.rest(agent)
            try await agent.reload()
            _ = try await next
            #expect(try world.announced == ids)
            let after = try await world.agent()
            #expect(try await after.rows([.acknowledged]).sorted() == ids)
            #expect(try await after.state(of: world.did).watermark?.rawValue == ids.last)
        }
    }

    @Test func readinessFollowsTheLifeOfTheAgent() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var options = world.options
            options.polls[0].timing = .every(.seconds(3600))
            let agent = try await Agent(
                options: options,
                time: world.clock,
                reload: { [options] in options },
                dependencies: AgentDependencies().patient
            )
            #expect(await agent.topics.notReady() == ["starting"])
            #expect(await agent.topics.isHealthy() == false)
            async let next = agent.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            #expect(await agent.topics.notReady() == [])
            #expect(await agent.topics.isHealthy())
            _ = try await agent.setIdentity(nil)
            #expect(await agent.topics.notReady() == ["signed_out"])
            // No local progress for long: not healthy, whatever the server does.
            world.clock.suspend(for: .seconds(86_400))
            #expect(await agent.topics.isHealthy())
            try await agent.reload()
            _ = try await next
        }
    }
}
