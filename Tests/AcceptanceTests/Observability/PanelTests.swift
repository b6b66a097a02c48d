import Testing

/// A panel shows what it says, whatever time range is chosen, and however many agents there are.
@Suite struct PanelTests {
    private let dashboards: [Dashboard]

    init() throws { dashboards = try Dashboard.all() }

    private func panels(_ types: String...) -> [(place: String, panel: Dashboard.Panel)] {
        dashboards.flatMap { dashboard in
            dashboard.allPanels.filter { types.contains($0.type) }.map {
                ("\(dashboard.uid) #\($0.id) \($0.title ?? "")", $0)
            }
        }
    }

    @Test func aStateOfNowDoesNotDependOnTheChosenRange() {
        let found = panels("stat", "table")
        #expect(found.count > 20)
        for (place, panel) in found {
            for target in panel.targets ?? [] {
                // The last value of a range is old if the agent is dead.
                #expect(target.instant == true, "\(place), \(target.refId) takes the last value of the range")
                guard target.expr.contains("$__range") else { continue }
                #expect(!place.hasPrefix("starwatch-overview"), "\(place) is no state of now")
                #expect(panel.description?.contains("in the selected time range") == true, "\(place) does not say so")
            }
        }
    }

    @Test func agentsThatDoNotAnswerCanBeChosen() throws {
        for dashboard in dashboards {
            let agents = try #require(dashboard.variables.first { $0.name == "instance" })
            #expect(agents.query.text.hasPrefix("label_values(up{"), "\(dashboard.uid)")
        }
    }

    @Test func aPanelOfManyAgentsShowsTheFirstOnes() throws {
        let found = panels("timeseries", "state-timeline")
        for (place, panel) in found {
            for target in panel.targets ?? [] where target.legendFormat?.contains("{{instance}}") == true {
                #expect(isLimited(try PromQLParser.parse(target.expr)), "\(place), \(target.refId) draws every agent")
            }
        }
    }

    private func isLimited(_ query: PromQL) -> Bool {
        switch query {
        case .aggregation("topk", nil, _), .aggregation("bottomk", nil, _): true
        case .binary(_, let operation, let right): operation.sign == "and" && isLimited(right)
        default: false
        }
    }

    @Test func theGravestIsTheFirstRow() {
        let found = panels("table").filter { $0.panel.columns.values.contains("Severity") }
        #expect(found.count == 2)
        for (place, panel) in found {
            #expect(panel.options?.sortBy?.first == .init(displayName: "Severity", desc: false), "\(place)")
            // By the words, `info` would come before `warning`.
            let column = panel.columns.first { $0.value == "Severity" }?.key
            #expect(column?.hasPrefix("Value") == true, "\(place) sorts by the words")
        }
    }
}
