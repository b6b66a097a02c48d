import Foundation
import MockEndorser
import Testing

/// A real Prometheus scrapes the built agent.
@Suite(.serialized) struct PrometheusTests {
    /// The twelve families that never change.
    static let contract = [
        "starred_projects_poll_attempts_total", "starred_projects_poll_success_total",
        "starred_projects_poll_failure_total", "starred_projects_poll_duration_seconds_count",
        "starred_projects_changes_found_total", "starred_projects_notifications_generated_total",
        "starred_projects_error_total", "starred_projects_rate_limit_total",
        "starred_projects_api_latency_seconds_count", "starred_projects_api_throughput_rps",
        "starred_projects_outbox_size", "starred_projects_outbox_backpressure_active",
    ]

    @Test func prometheusScrapesTheContractSetAndNoSeriesComesOrGoes() async throws {
        let world = try await AgentWorld {
            $0.dialect = .endorser
        } configure: { configuration, _ in
            configuration.sinks = TestConfiguration.webhook(configuration.server)
            configuration.logLevel = "info"
        }
        let (mock, workspace) = (world.mock, world.workspace)
        let agent = try await world.start()
        let before = try await Self.series(of: agent)

        let prometheus = try await Prometheus(scraping: agent.address, in: workspace)
        let isUp = try await eventually { try await prometheus.query("up{job=\"agent\"}") == 1 ? true : nil }
        #expect(isUp == true)

        mock.script(.rateLimited(retryAfter: .seconds(1)), .status(500), .malformedJSON, at: .plansChanged)
        mock.publish(mock.plans.prefix(7).map { MockChange(planID: $0.id) })
        let arrived = await eventually { mock.receivedNotifications.flatMap(\.jwtIDs).count == 7 ? true : nil }
        #expect(arrived == true)
        let found = try await eventually {
            try await prometheus.query("starred_projects_changes_found_total") == 7 ? true : nil
        }
        #expect(found == true)
        for family in Self.contract {
            #expect(try await prometheus.query(family) != nil, "\(family) is not in Prometheus")
        }
        #expect(try await prometheus.query("starred_projects_rate_limit_total") == 1)
        #expect(try await Self.series(of: agent) == before)

        for accept in ["text/plain", "application/openmetrics-text;version=1.0.0"] {
            let answer = try await HTTP.get("http://\(agent.address)/metrics", headers: ["Accept": accept])
            #expect(answer.status == 200)
            #expect(answer.type.hasPrefix(String(accept.split(separator: ";")[0])))
            #expect(answer.body.hasSuffix("# EOF\n") == accept.contains("openmetrics"))
        }
        let page = try await agent.pages.get("/metrics", headers: ["Accept": "text/plain"])
        try workspace.write(page, to: "page.txt")
        #expect(try await Prometheus.promtoolAccepts(workspace.path("page.txt")))
        await prometheus.stop()
        await agent.stop()
        try await mock.stop()
    }

    /// Names and labels of every series, without values.
    private static func series(of agent: RunningAgent) async throws -> Set<String> {
        let page = try await agent.pages.get("/metrics", headers: ["Accept": "text/plain"])
        return Set(
            page.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                String(line[..<line.lastIndex(of: " ")!])
            }
        )
    }
}
