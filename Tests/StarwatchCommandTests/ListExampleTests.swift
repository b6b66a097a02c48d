import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

/// The folders of `Examples/Lists` are whole, and match the program, the dashboards and the alerts.
@Suite struct ListExampleTests {
    private static let folder = "Examples/Lists"

    /// The folders of the examples.
    private static func examples() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Pages.root.appending(path: folder).path).sorted()
    }

    @Test func thereAreThreeExamplesAndTheirPageLinksThem() throws {
        let examples = try Self.examples()
        #expect(examples == ["forge-releases", "incidents", "orders"])
        let page = try Pages.text("docs/lists.md")
        for example in examples { #expect(page.contains("(../\(Self.folder)/\(example)/README.md)")) }
    }

    @Test func everyConfigurationLoadsWithoutWarningsAndHasOneList() throws {
        for example in try Self.examples() {
            let text = try Pages.text("\(Self.folder)/\(example)/starwatch.yaml")
            let folder = try TemporaryFolder()
            try folder.write("Authorization: Bearer demo-token\n", to: "token.headers")
            let loaded = try ConfigurationLoader(environment: [:], workingDirectory: "/")
                .load(text: text, file: "starwatch.yaml", directory: folder.path)
            let list = try #require(loaded.options.polls.first?.json, "\(example) has no list")
            let warnings = loaded.lines(of: OptionWarning.all(in: loaded.options, OptionWarning.Facts()))
            #expect(loaded.options.polls.count == 1 && warnings.isEmpty, "\(example): \(warnings)")
            #expect(list.version != nil && list.name != nil, "\(example) tells of an item by its id")
            // The mock of the example serves what its poll asks for.
            let server = try JSONDecoder().decode(
                Server.self,
                from: Data(Pages.text("\(Self.folder)/\(example)/api.json").utf8)
            )
            #expect(list.url == "http://127.0.0.1:8099" + server.path)
        }
    }

    private struct Server: Decodable {
        var path: String
    }

    @Test func everyPageIsShortAndNamesItsPollAndWhatWatchesIt() throws {
        let rules = try Pages.text("alerts/starwatch.rules.yml")
        let dashboards = try ["overview", "polls-and-api"].map { try Pages.text("dashboards/\($0).json") }
        for example in try Self.examples() {
            let page = try Pages.text("\(Self.folder)/\(example)/README.md")
            let settings = try Pages.text("\(Self.folder)/\(example)/starwatch.yaml")
            let poll = try #require(settings.firstMatch(of: #/\npolls:\n  ([a-z]+):/#)?.1)
            #expect(page.count { $0 == "\n" } <= 25, "\(example)")
            #expect(page.contains("\nstarwatch poll try \(poll)\n"), "\(example)")
            let alerts = page.matches(of: /Starwatch[A-Z][A-Za-z]+/).map { String($0.0) }
            #expect(!alerts.isEmpty, "\(example) names no alert")
            for alert in alerts { #expect(rules.contains("- alert: \(alert)\n"), "\(example): \(alert)") }
            let titles = page.matches(of: #/\*([A-Z][^*]+)\*/#).map { "\"\($0.1)\"" }
            #expect(titles.count > 1, "\(example) names no panel")
            for title in titles {
                let isThere = dashboards.contains { $0.contains(title) }
                #expect(isThere, "\(example): there is no \(title) in the dashboards")
            }
        }
    }

    /// What the page quotes; places and numbers differ.
    @Test func theMistakesOfThePageAreSentencesOfTheProgram() throws {
        let sources = try ["ListReader", "ListWalk"].map { try Pages.text("Sources/StarwatchCore/Lists/\($0).swift") }
        let quoted = try Pages.text("docs/lists.md").matches(of: #/\n\| "([^"]+)" \|/#).map { String($0.1) }
        #expect(quoted.count > 5)
        for sentence in quoted {
            let parts = sentence.split(separator: #/ ?(?:\/[a-z0-9\/_]+|[0-9]+) ?/#).map(String.init)
            for part in parts {
                // A sentence can be made of two.
                let words = part.replacing("An item has no id at", with: "An item has no ")
                let isThere = sources.contains { $0.contains(words) }
                #expect(isThere, "\(sentence): the program does not say \"\(part)\"")
            }
        }
    }
}
