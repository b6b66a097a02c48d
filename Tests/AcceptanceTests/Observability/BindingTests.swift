import Foundation
import Starwatch
import StarwatchCore
import StarwatchTelemetry
import Testing

/// Dashboards, rules and runbooks name only what the agent exports, and use it as what it is.
@Suite struct BindingTests {
    private let catalogue: [CatalogueEntry]
    private let rules: RuleFile
    private let book: SampleBook
    private let dashboards: [Dashboard]

    init() throws {
        catalogue = try AgentMetrics.make(
            polls: ["starred_projects"],
            sinks: ["log"],
            now: { Timestamp(milliseconds: 0) }
        ).registry.catalogue
        rules = try RuleFile.repository()
        book = SampleBook(catalogue: catalogue, recordings: try rules.recordings())
        dashboards = try Dashboard.all()
    }

    // MARK: Queries

    @Test func everyQueryOfADashboardFitsTheCatalogue() {
        let queries = dashboards.flatMap { $0.panelQueries + $0.annotationQueries }
        #expect(queries.count > 100)
        expectNoProblems(of: queries)
    }

    @Test func everyRuleFitsTheCatalogueAndItsTextShowsOnlyLabelsItHas() {
        #expect(rules.rules.count > 40)
        expectNoProblems(of: rules.rules.map(\.query))
    }

    @Test func everyRunbookFitsTheCatalogue() throws {
        let runbooks = try Runbook.all()
        expectNoProblems(of: runbooks.flatMap(\.queries))
        for runbook in runbooks {
            #expect(!runbook.queries.isEmpty, "\(runbook.name) has no query")
            for name in runbook.grepped {
                #expect(book.names.contains { $0.hasPrefix(name) }, "\(runbook.name) greps for \(name)")
            }
        }
        #expect(runbooks.flatMap(\.grepped).count > runbooks.count)
    }

    @Test func everyRunbookLooksForWhatIsLogged() throws {
        let levels = LogSeverity.allCases.map { "\"level\":\"\($0.text)\"" }
        let texts = try Runbook.all().flatMap(\.loggedTexts)
        #expect(texts.count > 5)
        for text in texts where text != "REDACTED" && !levels.contains(text) {
            #expect(AgentEvent.allCases.contains { $0.name.contains(text) }, "\(text)")
        }
    }

    private func expectNoProblems(of queries: [PlacedQuery]) {
        for query in queries {
            let problems = ExpressionReview.problems(of: query.expression, in: book, legend: query.legend)
            #expect(problems == [], "\(query.place)")
        }
    }

    // MARK: Dashboards

    @Test func variablesNarrowFromTheDataSourceToThePoll() throws {
        for dashboard in dashboards {
            let names = dashboard.variables.map(\.name)
            #expect(
                names.count >= 3
                    && names.elementsEqual(["datasource", "job", "cluster", "instance", "poll"].prefix(names.count))
            )
            #expect(dashboard.variables.first?.type == "datasource")
            for (index, variable) in dashboard.variables.enumerated().dropFirst() {
                let place = "\(dashboard.uid), \(variable.name)"
                #expect(variable.datasource?.uid == "${datasource}", "\(place)")
                #expect(variable.definition == variable.query.text, "\(place)")
                let match = try #require(variable.query.text.wholeMatch(of: /label_values\((.+), (\w+)\)/), "\(place)")
                #expect(String(match.2) == variable.name, "\(place)")
                guard case .selector(let selector) = try PromQLParser.parse(String(match.1)) else {
                    Issue.record("\(place) asks for more than a selector")
                    continue
                }
                #expect(book.entry(selector.name)?.labels.keys.contains(variable.name) == true, "\(place)")
                let earlier = names[1..<index].map { PromQL.Matcher(label: $0, comparison: "=~", value: "$\($0)") }
                #expect(selector.matchers == earlier, "\(place) does not follow the variables before it")
            }
        }
    }

    @Test func queriesUseOnlyVariablesThatTheirDashboardHas() {
        let builtIn: Set<String> = ["__range", "__rate_interval", "__interval", "__from", "__to"]
        for dashboard in dashboards {
            let known = builtIn.union(dashboard.variables.map(\.name))
            for query in dashboard.panelQueries + dashboard.annotationQueries {
                let used = Set(query.expression.matches(of: /\$\{?([A-Za-z_]\w*)/).map { String($0.1) })
                #expect(used.isSubset(of: known), "\(query.place)")
                #expect(used.isSuperset(of: ["job", "instance"]), "\(query.place) is not narrowed")
            }
        }
    }

    @Test func panelsHaveIDsAndRoomOfTheirOwnAndTheChosenDataSource() {
        #expect(Set(dashboards.map(\.uid)).count == dashboards.count)
        for dashboard in dashboards {
            let panels = dashboard.allPanels
            #expect(Set(panels.map(\.id)).count == panels.count, "\(dashboard.uid)")
            for (index, panel) in panels.enumerated() {
                let place = "\(dashboard.uid) #\(panel.id)"
                #expect(panel.gridPos.x >= 0 && panel.gridPos.x + panel.gridPos.w <= 24, "\(place)")
                for other in panels[..<index] {
                    #expect(!panel.gridPos.overlaps(other.gridPos), "\(place) lies over #\(other.id)")
                }
                guard !["row", "text"].contains(panel.type) else { continue }
                #expect(panel.datasource?.uid == "${datasource}", "\(place)")
                #expect(panel.targets?.isEmpty == false, "\(place) asks for nothing")
                for target in panel.targets ?? [] {
                    #expect(target.datasource.map { $0.uid == "${datasource}" } ?? true, "\(place) \(target.refId)")
                }
            }
        }
    }

    // MARK: Coverage

    @Test func everyFamilyIsOnAPanelOrInARuleUnlessItIsADetail() throws {
        var used: Set<String> = []
        for query in dashboards.flatMap(\.panelQueries) + rules.rules.map(\.query) {
            used.formUnion(book.families(read: try PromQLParser.parse(query.expression)))
        }
        let unseen = catalogue.map(\.descriptor).filter { $0.stability != .detail && !used.contains($0.name) }
        #expect(unseen.map(\.name) == [], "put these on a panel or in a rule, or mark them as details")
    }

    @Test func theListOfFamiliesWithoutAPanelIsTrue() throws {
        var shown: Set<String> = []
        for query in dashboards.flatMap(\.panelQueries) {
            shown.formUnion(query.selectorNames.compactMap { book.entry($0)?.family })
        }
        let text = try Repository.text("dashboards/README.md")
        let section = try #require(text.components(separatedBy: "## Families without a panel\n").last)
        let listed = section.matches(of: /\| `(\w+)` \|/).map { String($0.1) }
        #expect(Set(listed) == Set(catalogue.map(\.descriptor.name)).subtracting(shown))
    }
}

extension PlacedQuery {
    fileprivate var selectorNames: [String] { ((try? PromQLParser.parse(expression))?.selectors ?? []).map(\.name) }
}
