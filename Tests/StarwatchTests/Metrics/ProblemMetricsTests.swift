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

    @Test func theStatusAndTheMetricsShowTheSameProblems() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.initialIdentity = nil }
            let status = await agent.state()
            let page = await agent.page()
            let words = page.values.keys.filter { $0.name == "starwatch_problem_info" }.map { $0.labels["problem"] }
            #expect(status.problems?.map(\.problem) == words && words == ["signed_out"])
        }
    }
}
