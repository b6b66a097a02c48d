import Foundation
import MockEndorser
import Testing

/// Every panel shows something, once something happens.
@Suite(.serialized) struct PanelDataTests {
    /// Panels for which no data is the healthy answer, and why.
    static let healthyWithoutData = [
        "starwatch-internals #26 Scrapes and control requests, D": "the control API has refused no request",
        "starwatch-internals #13 Credentials, B": "there is no pool of tokens",
        "starwatch-internals #30 Certificates and web configurations, A": "no port has a web configuration",
        "starwatch-internals #30 Certificates and web configurations, B": "no port has a web configuration",
        "starwatch-outbox #35 Held rows by sink, A": "no sink has hours",
        "starwatch-overview #30 Firing alerts, A": "no alert fires",
        "starwatch-overview #33 Problems, B": "no problem ends at a known time",
        "starwatch-overview #31 Polls and sinks, C": "no sink's circuit breaker is open",
    ]

    /// Panels without data so far.
    private actor Outstanding {
        private(set) var queries: [PlacedQuery]

        init(_ queries: [PlacedQuery]) { self.queries = queries }

        /// Asks for all that had no sample so far.
        func ask(_ prometheus: Prometheus) async throws {
            var left: [PlacedQuery] = []
            for query in queries {
                do {
                    if try await prometheus.values(query.expression).isEmpty { left.append(query) }
                } catch {
                    throw AcceptanceError("\(query.place): \(error)")
                }
            }
            queries = left
        }
    }

    @Test func everyQueryOfEveryPanelHasASampleUnderALoadOfFaults() async throws {
        let dashboards = try Dashboard.all()
        // The panels of the fleet are empty without accounts; the next test has them.
        let panels = dashboards.filter { $0.uid != Self.fleet }.flatMap(\.panelQueries)
        let queries = (panels + dashboards.flatMap(\.annotationQueries)).filter {
            Self.healthyWithoutData[$0.place] == nil
        }
        #expect(Set(Self.healthyWithoutData.keys).isSubset(of: dashboards.flatMap(\.panelQueries).map(\.place)))
        let workspace = try Workspace()
        let world = try await FaultyLoad()
        let prometheus = try await Prometheus(
            scraping: world.agent.address,
            as: "starwatch",
            rules: RuleFile.inSecondsForMinutes(),
            in: workspace
        )
        let outstanding = Outstanding(queries.map(Self.filled))
        let done = try await eventually {
            let unseen = try await world.stir()
            try await outstanding.ask(prometheus)
            return await outstanding.queries.isEmpty && unseen.isEmpty ? true : nil
        }
        let empty = await outstanding.queries.map { "\($0.place): \($0.expression)" }
        #expect(done == true)
        #expect(empty == [], "these show nothing")
        let unseen = try await world.stir()
        #expect(unseen == [], "the load has not had these")

        for dashboard in dashboards {
            // The target here has no label `cluster`.
            for variable in dashboard.variables where variable.type == "query" && variable.name != "cluster" {
                let match = try #require(variable.query.text.wholeMatch(of: /label_values\((.+), (\w+)\)/))
                let values = try await prometheus.values(
                    ofLabel: String(match.2),
                    in: Self.filled(String(match.1))
                )
                #expect(!values.isEmpty, "\(dashboard.uid), \(variable.name) has nothing to choose from")
            }
        }
        // Prometheus reads what an operator would type, too; whether it has an answer depends on the incident.
        for query in try Runbook.all().flatMap(\.queries) { _ = try await prometheus.values(query.expression) }
        await prometheus.stop()
        try await world.stop()
    }

    private static let fleet = "starwatch-fleet"

    @Test func everyQueryOfTheFleetHasASampleWhenAccountsAreVisited() async throws {
        let dashboard = try #require(try Dashboard.all().first { $0.uid == Self.fleet })
        #expect(dashboard.panelQueries.count > 10)
        let world = try await AgentWorld.ofAccounts()
        let agent = try await world.start()
        let added = try await world.command(
            ["accounts", "add", "--stdin"],
            input: AgentWorld.lines(world.accounts(50))
        )
        #expect(added.status == 0, "\(added.errors)")
        let prometheus = try await Prometheus(
            scraping: agent.address,
            as: "starwatch",
            rules: RuleFile.inSecondsForMinutes(),
            in: world.workspace
        )
        let outstanding = Outstanding(dashboard.panelQueries.map(Self.filled))
        let done = try await eventually {
            try await outstanding.ask(prometheus)
            return await outstanding.queries.isEmpty ? true : nil
        }
        let empty = await outstanding.queries.map { "\($0.place): \($0.expression)" }
        #expect(done == true)
        #expect(empty == [], "these show nothing")
        await prometheus.stop()
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    private static func filled(_ query: PlacedQuery) -> PlacedQuery {
        PlacedQuery(place: query.place, expression: filled(query.expression))
    }

    /// A query with its variables replaced: all agents and polls, and windows short enough for a test.
    private static func filled(_ expression: String) -> String {
        let values = [
            "__rate_interval": "15s", "__range": "60s", "__from": "0", "job": ".+", "cluster": ".*", "instance": ".+",
            "poll": ".+",
        ]
        return expression.replacing(/\$([A-Za-z_]\w*)/) { values[String($0.1)] ?? String($0.0) }
    }
}
