import MockEndorser
import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

@Suite struct ContractSetTests {
    @Test(arguments: MockDialect.allCases)
    func theContractSetEqualsWhatItIsAViewOf(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent {
                $0.useTokens(in: world.folder)
                $0.polls.append(PollOptions(name: PollName("offers")!, kind: .offersToMe))
            }
            _ = try await agent.runPoll(World.starred)
            for count in [1, 3, 7] {
                world.clock.advance(by: .seconds(100))
                world.mock.publish(count: count)
                world.mock.publishOffers(count: 2, to: world.did.rawValue)
                world.mock.script(.status(500), at: .plansChanged)
                _ = try await agent.runPoll(World.starred)
                _ = try await agent.runPoll("offers")
            }
            world.mock.script(.rateLimited(retryAfter: .seconds(1)), .status(404), at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            world.mock.publish(count: 2)
            world.clock.advance(by: .seconds(50))
            _ = await agent.cycle()
            let page = await agent.page()
            let poll = ["poll": World.starred]
            let pairs: [(String, Double)] = [
                ("starred_projects_poll_attempts_total", page["starwatch_poll_attempts_total", poll] ?? -1),
                ("starred_projects_poll_success_total", page["starwatch_poll_success_total", poll] ?? -1),
                ("starred_projects_poll_failure_total", page["starwatch_poll_failure_total", poll] ?? -1),
                ("starred_projects_changes_found_total", page["starwatch_poll_changes_found_total", poll] ?? -1),
                (
                    "starred_projects_notifications_generated_total",
                    ["single", "several", "many"].reduce(0) {
                        $0 + (page["starwatch_notifications_total", ["poll": World.starred, "group": $1]] ?? -1)
                    }
                ),
                (
                    "starred_projects_rate_limit_total",
                    page[
                        "starwatch_api_requests_total",
                        ["endpoint": "plans_changed", "result": "rate_limited"]
                    ] ?? -1
                ),
                (
                    "starred_projects_outbox_size",
                    (page["starwatch_outbox_rows", ["state": "pending"]] ?? -1)
                        + (page["starwatch_outbox_rows", ["state": "claimed"]] ?? -1)
                ),
            ]
            for (name, value) in pairs {
                #expect(page[name] == value, "\(name)")
                #expect(value > 0, "\(name)")
            }
            var errors = 0.0
            for one in page.series(of: "starwatch_api_requests_total")
            where one.labels["endpoint"] == "plans_changed" && one.labels["result"] != "ok" {
                errors += page.values[one] ?? 0
            }
            #expect(errors == 5)
            #expect(page["starred_projects_error_total"] == errors)
            #expect((page["starred_projects_api_throughput_rps"] ?? 0) > 0)
            for suffix in ["_count", "_sum"] {
                #expect(
                    page["starred_projects_poll_duration_seconds" + suffix]
                        == page["starwatch_poll_duration_seconds" + suffix, poll]
                )
                #expect(
                    page["starred_projects_api_latency_seconds" + suffix]
                        == page["starwatch_api_latency_seconds" + suffix, ["endpoint": "plans_changed"]]
                )
            }
            #expect(
                page["starred_projects_poll_duration_seconds_count"] == page["starred_projects_poll_attempts_total"]
            )
        }
    }

    @Test(arguments: [
        ("starred_projects_poll_attempts_total", "Total number of polling attempts"),
        ("starred_projects_poll_success_total", "Total number of successful polls"),
        ("starred_projects_poll_duration_seconds", "Polling duration in seconds"),
        ("starred_projects_outbox_size", "Current number of undelivered notifications"),
    ])
    func theHelpIsTheOneThatIsPromised(family: String, help: String) async throws {
        let metrics = try AgentMetrics.make(polls: [World.starred], sinks: ["file"], now: { ManualClock.start })
        let page = String(decoding: await metrics.registry.render(.text), as: UTF8.self)
        #expect(page.contains("# HELP \(family) \(help)\n"))
    }

    /// The names of polls are free, and two accounts of one person can have a poll each.
    @Test func everyPollOfTheKindIsCountedWhateverItsName() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.useTokens(in: world.folder)
                $0.polls[0].name = PollName("mine")!
                $0.polls.append(PollOptions(name: PollName("also_mine")!, kind: .starredProjects))
                $0.polls.append(PollOptions(name: PollName("starred_projects")!, kind: .offersToMe))
            }
            for poll in ["mine", "also_mine", "also_mine", "starred_projects"] { _ = try await agent.runPoll(poll) }
            let page = await agent.page()
            #expect(page["starred_projects_poll_attempts_total"] == 3)
            #expect(page["starred_projects_poll_duration_seconds_count"] == 3)
            let summary = await agent.state().pollingMetrics
            #expect(summary.pollsTotal == 3)
            #expect(summary.lastPollTimestamp != nil)
        }
    }

    @Test func requestsOfOtherEndpointsAreNoThroughputOfTheStarredPoll() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.useTokens(in: world.folder)
                $0.polls.append(PollOptions(name: PollName("offers")!, kind: .offersToMe))
            }
            _ = try await agent.runPoll("offers")
            #expect(world.mock.requestCount(of: .offersToMe) > 0)
            #expect(await agent.page()["starred_projects_api_throughput_rps"] == 0)
            _ = try await agent.runPoll(World.starred)
            let page = await agent.page()
            let requests = page["starred_projects_api_latency_seconds_count"] ?? 0
            #expect(requests > 0)
            #expect(page["starred_projects_api_throughput_rps"] == requests / 60)
        }
    }

    @Test func theSummaryHasTheSameNumbersAsThePage() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 3)
            let limited = MockFault.rateLimited(retryAfter: .seconds(1))
            world.mock.script(limited, limited, at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            world.mock.script(.status(404), at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            let page = await agent.page()
            let status = await agent.state()
            let summary = status.pollingMetrics
            #expect(Double(summary.pollsTotal) == page["starred_projects_poll_attempts_total"])
            #expect(Double(summary.pollsSuccessful) == page["starred_projects_poll_success_total"])
            #expect(Double(summary.pollsFailed) == page["starred_projects_poll_failure_total"])
            #expect(Double(summary.changesFound) == page["starred_projects_changes_found_total"])
            #expect(
                Double(summary.notificationsGenerated) == page["starred_projects_notifications_generated_total"]
            )
            #expect(Double(summary.throttlesHit) == page["starred_projects_rate_limit_total"])
            #expect(summary.pollsTotal == 2 && summary.pollsFailed == 1 && summary.throttlesHit == 2)
            let sum = page["starred_projects_api_latency_seconds_sum"] ?? -1
            let count = page["starred_projects_api_latency_seconds_count"] ?? 0
            #expect(abs(summary.averageResponseTime - sum / count) < 0.000_001)
            #expect(summary.lastPollTimestamp == status.polls[World.starred]?.lastAttempt)
            #expect(summary.lastPollTimestamp != nil)
        }
    }

    @Test func theCountersOfTheLedgerSurviveARestart() async throws {
        try await World.with(.canonical) { world in
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            func entries(_ page: MetricsPage) -> [String: Double] {
                var found: [String: Double] = [:]
                for entry in LedgerEntry.allCases {
                    found[entry.rawValue] = page["starwatch_ledger_entries_total", ["entry": entry.rawValue]]
                }
                return found
            }
            world.mock.publish(count: 3)
            _ = try await agent.runPoll(World.starred)
            let before = entries(await agent.page())
            #expect(before["new"] == 3 && before["delivered"] == 3 && before["fetched"] == 3)
            agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            // Also before anything was read for a scrape: a zero would look like a reset.
            let first = MetricsPage(agent.metrics.registry.page(.text))
            #expect(entries(first) == before)
            #expect(first["starwatch_outbox_changes_total", ["change": "inserted"]] == 0)
            world.mock.publish(count: 2)
            _ = try await agent.runPoll(World.starred)
            #expect(entries(await agent.page())["new"] == 5)
        }
    }

    @Test func withoutAPollOfThatNameItStaysAtZero() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.polls = [PollOptions(name: PollName("offers")!, kind: .offersToMe)]
                $0.useTokens(in: world.folder)
            }
            _ = try await agent.runPoll("offers")
            let page = await agent.page()
            #expect(page["starred_projects_poll_attempts_total"] == 0)
            #expect(page["starwatch_poll_attempts_total", ["poll": "offers"]] == 1)
        }
    }

    @Test func whatIsStoredIsShownAgainAfterARestart() async throws {
        try await World.with(.canonical) { world in
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 2)
            _ = try await agent.runPoll(World.starred)
            let names = [
                "starwatch_poll_last_attempt_timestamp_seconds", "starwatch_poll_last_success_timestamp_seconds",
                "starwatch_watermark_timestamp_seconds", "starwatch_fetch_cursor_timestamp_seconds",
            ]
            world.clock.advance(by: .seconds(500))
            agent = try await world.agent()
            let page = await agent.page()
            for name in names {
                #expect(page[name, ["poll": World.starred]] == ManualClock.start.seconds, "\(name)")
            }
        }
    }
}
