import MockEndorser
import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

@Suite struct ProblemMetricsTests {
    private func make() throws -> AgentMetrics {
        try AgentMetrics.make(polls: ["starred_projects"], sinks: ["hook"], now: { ManualClock.start })
    }

    @Test func aProblemHasItsSeriesAsLongAsItExists() throws {
        let metrics = try make()
        func page() -> MetricsPage { MetricsPage(metrics.registry.page(.text)) }
        let before = metrics.registry.seriesCount
        #expect(page()["starwatch_problem_info"] == nil)
        metrics.problems.show([
            Problem(
                .held,
                "the server asks to wait",
                reason: "rate_limit",
                since: Timestamp(seconds: 100),
                until: Timestamp(seconds: 700)
            ),
            Problem(.sinkUnreachable, of: "hook", "sink hook down", reason: "timeout"),
        ])
        #expect(
            page()[
                "starwatch_problem_info",
                [
                    "problem": "held", "reason": "rate_limit", "severity": "warning",
                    "command": "starwatch server clear-wait", "runbook": "StarwatchThrottledTooLong",
                ]
            ] == 1
        )
        #expect(
            page()[
                "starwatch_problem_info",
                [
                    "problem": "sink_unreachable", "sink": "hook", "reason": "timeout", "severity": "warning",
                    "command": "starwatch sinks test hook", "runbook": "StarwatchSinkCircuitOpen",
                ]
            ] == 1
        )
        #expect(page()["starwatch_problem_since_timestamp_seconds", ["problem": "held"]] == 100)
        #expect(page()["starwatch_problem_until_timestamp_seconds", ["problem": "held"]] == 700)
        #expect(metrics.registry.seriesCount == before + 4)
        metrics.problems.show([])
        #expect(metrics.registry.seriesCount == before && page()["starwatch_problem_info"] == nil)
    }

    @Test func refusedPortsAreToldApart() throws {
        let metrics = try make()
        metrics.problems.show(ServedPort.allCases.map { Problem(.reloadRefused, of: $0.rawValue, "refused") })
        let page = MetricsPage(metrics.registry.page(.text))
        #expect(page.values.keys.filter { $0.name == "starwatch_problem_info" }.count == ServedPort.allCases.count)
    }

    @Test func certificatesAreToldApart() throws {
        let metrics = try make()
        let owners = [CertificateOwner.server, .port("http"), .port("control"), .sink("hook")]
        metrics.problems.show(
            owners.compactMap { Certificate(of: $0, expiry: Timestamp(seconds: 1)).problem(now: ManualClock.start) }
        )
        let series = MetricsPage(metrics.registry.page(.text)).values.keys.filter {
            $0.name == "starwatch_problem_info"
        }
        #expect(
            Set(series.map { "\($0.labels["sink"] ?? "-") \($0.labels["reason"] ?? "-")" })
                == ["- server", "- http", "- control", "hook -"]
        )
    }

    @Test func aReloadKeepsTheProblemsUntilTheFirstLook() throws {
        let former = try make(), next = try make()
        former.problems.show([Problem(.signedOut, "signed out", since: Timestamp(seconds: 5))])
        next.countOn(from: former)
        let page = MetricsPage(next.registry.page(.text))
        #expect(page["starwatch_problem_since_timestamp_seconds", ["problem": "signed_out"]] == 5)
    }

    /// What a reader looks at must not depend on who has looked before.
    @Test func readingTheStatusChangesNoMetricAndLogsNothing() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.log.level = .notice }
            agent.process.lifecycle.start()
            world.mock.setStickyFault(.status(500), at: .plansChanged)
            for _ in 1...3 { _ = await agent.cycle() }
            await agent.look()
            world.clock.advance(by: .seconds(86_400))
            let metrics = agent.process.environment.metrics
            // The process and its database have metrics of their own.
            func values() -> [MetricsPage.Series: Double] {
                MetricsPage(metrics.registry.page(.text)).values.filter {
                    !$0.value.isNaN && !$0.key.name.hasPrefix("process_") && !$0.key.name.contains("store_transaction")
                }
            }
            let (before, longest) = (values(), metrics.api.longestSeconds)
            for _ in 1...2 { #expect(await agent.state().has(.stale, of: World.starred)) }
            #expect(values() == before && metrics.api.longestSeconds == longest)
            await world.stopAgent()
            #expect(!world.log.lines.contains { $0.contains("problem.began") && $0.contains("\"stale\"") })
        }
    }

    @Test func theStatusAndTheMetricsShowTheSameProblems() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.initialIdentity = nil }
            let before = await agent.state()
            #expect(before.problems?.map(\.problem) == ["signed_out"])
            #expect(await agent.page()["starwatch_problem_info"] == nil, "reading the status has published it")
            let status = await agent.look()
            let page = await agent.page()
            let words = page.values.keys.filter { $0.name == "starwatch_problem_info" }.map { $0.labels["problem"] }
            #expect(status.problems?.map(\.problem) == words && words == ["signed_out"])
        }
    }
}
