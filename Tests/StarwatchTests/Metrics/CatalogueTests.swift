import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

@Suite struct CatalogueTests {
    private let metrics: AgentMetrics
    private let page: MetricsPage

    init() async throws {
        metrics = try AgentMetrics.make(
            polls: ["starred_projects", "offers"],
            sinks: ["file", "hook"],
            now: { ManualClock.start }
        )
        page = MetricsPage(await metrics.registry.render(.text))
    }

    private func configured(_ label: String) -> [String] {
        switch label {
        case "poll": ["starred_projects", "offers"]
        case "sink": ["file", "hook"]
        default: ["server", "file", "hook"]
        }
    }

    @Test(arguments: ExpectedFamilies.all)
    func everyPromisedFamilyIsOnTheFirstPageAtZero(family: ExpectedFamilies.Family) {
        #expect(page.types[family.name] == family.type)
        var combinations: Set<[String: String]> = [[:]]
        for label in family.labels {
            combinations = Set(
                combinations.flatMap { known in
                    (label.values ?? configured(label.name)).map { known.merging([label.name: $0]) { $1 } }
                }
            )
        }
        combinations = combinations.filter { ExpectedFamilies.occurs($0, in: family.name) }
        let series = page.series(of: family.name)
        #expect(Set(series.map { $0.labels.filter { $0.key != "le" } }) == combinations)
        for one in series { #expect(page.values[one] == 0, "\(one)") }
    }

    @Test(arguments: 0..<4)
    func familiesWithOpenLabelsAreThereToo(index: Int) {
        let (name, type, labels) = ExpectedFamilies.open[index]
        #expect(page.types[name] == type)
        let series = page.series(of: name)
        #expect(!series.isEmpty)
        for one in series {
            #expect(Set(one.labels.keys).subtracting(["le"]) == labels)
            #expect(page.values[one] == 0)
        }
    }

    @Test func everyFamilyFollowsTheRulesOfNames() {
        for entry in metrics.registry.catalogue {
            #expect(MetricRules.problems(of: entry.descriptor, labels: entry.labels.map(\.name)) == [])
        }
    }

    @Test func theAgentSaysWhatItIs() {
        #expect(page.types["starwatch_build_info"] != nil)
        let info = page.series(of: "starwatch_build_info")
        #expect(info.count == 1)
        #expect(Set(info.first.map { Array($0.labels.keys) } ?? []) == ["version", "commit", "swift"])
        #expect(info.first.flatMap { page.values[$0] } == 1)
        let zones = page.series(of: "starwatch_time_zone_data_info")
        #expect(zones.map { Set($0.labels.keys) } == [["source", "version"]])
        #expect(zones.first?.labels["source"] == "machine" && zones.first.flatMap { page.values[$0] } == 1)
        for name in ExpectedFamilies.process { #expect(page.types[name] != nil, "\(name)") }
    }

    @Test func nothingIsOnThePageThatIsNotOnTheList() {
        var known = Set(ExpectedFamilies.all.map(\.name)).union(ExpectedFamilies.open.map(\.name))
        known.formUnion([
            "starwatch_build_info", "starwatch_time_zone_data_info", "starwatch_metrics_series",
            "starwatch_metrics_series_overflow_total",
        ])
        let unknown = page.families.filter { !known.contains($0) && !$0.hasPrefix("process_") }
        #expect(unknown.isEmpty)
    }

    @Test func objectivesAreBoundsOfEveryLatency() {
        for name in ["starwatch_api_latency_seconds", "starwatch_delivery_seconds", "starwatch_freshness_seconds"] {
            let bounds = Set(page.series(of: name).compactMap { $0.labels["le"].flatMap(Double.init) })
            #expect(bounds.isSuperset(of: [0.5, 2]), "\(name)")
        }
    }

    @Test func theObjectiveAndTheMostThatIsToleratedAreBoundsOfLateness() {
        for name in ["starwatch_schedule_delay_seconds", "starwatch_digest_lateness_seconds"] {
            let bounds = Set(page.series(of: name).compactMap { $0.labels["le"].flatMap(Double.init) })
            #expect(bounds.isSuperset(of: [7200, 14_400]), "\(name)")
        }
    }

    @Test func theContractSetHasItsOwnBounds() {
        func bounds(_ name: String) -> [Double] {
            page.series(of: name).compactMap { $0.labels["le"] }.filter { $0 != "+Inf" }.compactMap(Double.init)
                .sorted()
        }
        #expect(bounds("starred_projects_poll_duration_seconds") == [0.1, 0.5, 1, 2, 5, 10, 30])
        #expect(bounds("starred_projects_api_latency_seconds") == [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30])
    }
}
