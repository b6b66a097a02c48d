import Foundation
import MockEndorser
import Testing

/// From a server that breaks to the person who is told: agent, Prometheus, rules, Alertmanager, receiver.
@Suite(.serialized) struct AlertmanagerTests {
    @Test func aBrokenServerRaisesItsAlertAndAMendedOneResolvesIt() async throws {
        let world = try await AgentWorld {
            $0.planCount = 3
        } configure: { configuration, _ in
            configuration.sinks = TestConfiguration.webhook(configuration.server)
            configuration.logLevel = "info"
            configuration.staleAfter = "5s"
        }
        let (mock, workspace) = (world.mock, world.workspace)
        let agent = try await world.start()
        let alertmanager = try await Alertmanager(in: workspace)
        let prometheus = try await Prometheus(
            scraping: agent.address,
            as: "starwatch",
            rules: RuleFile.inSecondsForMinutes(),
            alertmanager: alertmanager.address,
            in: workspace
        )
        let isFresh = try await eventually {
            try await prometheus.query("starwatch:poll_fresh:bool{poll=\"starred_projects\"}") == 1 ? true : nil
        }
        #expect(isFresh == true)
        func alert(_ status: String) async -> Alertmanager.Alert? {
            await eventually {
                alertmanager.received.first { $0.labels["alertname"] == "StarwatchPollStale" && $0.status == status }
            }
        }

        try await mock.stop()
        let firing = try #require(await alert("firing"), "nobody was told")
        #expect(firing.labels["severity"] == "warning")
        #expect(firing.labels["poll"] == "starred_projects")
        #expect(firing.labels["instance"] == agent.address)
        let rule = try #require(try RuleFile.repository().rules.first { $0.alert == "StarwatchPollStale" })
        #expect(firing.annotations["summary"] == rule.annotations?["summary"])
        #expect(firing.annotations["runbook_url"] == rule.annotations?["runbook_url"])
        #expect(firing.annotations["description"]?.contains("starred_projects on \(agent.address)") == true)
        let runbook = try #require(firing.annotations["runbook_url"]?.split(separator: "/").last)
        #expect(throws: Never.self) { try Repository.text("alerts/runbooks/\(runbook)") }

        try await mock.start()
        let resolved = try #require(await alert("resolved"), "nobody was told that it is over")
        #expect(resolved.labels == firing.labels)
        // The agent itself was well all the time. Where a busy machine left a scrape of a second unanswered, it looked down.
        let names = Set(alertmanager.received.compactMap { $0.labels["alertname"] })
        #expect(!names.contains("StarwatchStoreErrors"))
        if try await prometheus.query("min_over_time(up[1h])") == 1 {
            #expect(names.isDisjoint(with: ["StarwatchAgentDown", "StarwatchAbsent"]))
        }

        await prometheus.stop()
        try await alertmanager.stop()
        await agent.stop()
        try await mock.stop()
    }

    @Test func theScaledRulesDifferFromTheRealOnesOnlyInTheirTimes() throws {
        let (real, scaled) = (try Repository.text(RuleFile.path), try RuleFile.inSecondsForMinutes())
        let (before, after) = (real.split(separator: "\n"), scaled.split(separator: "\n"))
        #expect(before.count == after.count)
        let times = /(interval: |for: |\[)\d+[smhd]/
        for (old, new) in zip(before, after) where old != new {
            #expect(old.replacing(times) { "\($0.1)" } == new.replacing(times) { "\($0.1)" })
        }
        #expect(!scaled.contains(/(interval: |for: |\[)\d+[mhd](\]|\n)/))
        #expect(scaled.contains("for: 5s"))
        #expect(scaled.contains("[4320s]"))
    }
}
