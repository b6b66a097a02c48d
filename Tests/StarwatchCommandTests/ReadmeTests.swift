import Foundation
import Starwatch
import Testing

@testable import StarwatchCommand

/// The README matches the program.
@Suite struct ReadmeTests {
    @Test func theMetricsTableIsTheCatalogueOfTheDefaultConfiguration() throws {
        let parts = try Self.readme().components(separatedBy: "<!-- catalogue -->\n")
        let table = try #require(parts.last?.components(separatedBy: "<!-- /catalogue -->").first)
        let loaded = try ConfigurationLoader().load(text: "", file: "none", directory: "/")
        #expect(
            table == (try MetricCatalogue.markdown(for: loaded.options)),
            "put the output of starwatch metrics catalogue --markdown for the default configuration into README.md"
        )
    }

    @Test func theTablesOfEventsAreTheCatalogue() throws {
        let parts = try Self.readme().components(separatedBy: "<!-- events -->\n")
        let tables = try #require(parts.last?.components(separatedBy: "<!-- /events -->").first)
        #expect(tables == EventCatalogue.markdown(), "put this into README.md:\n\(EventCatalogue.markdown())")
    }

    @Test func everyTopLevelCommandOfTheReadmeExists() async throws {
        let readme = try Self.readme()
        let matches = readme.matches(of: /\nstarwatch (config [a-z]+|[a-z-]+)/)
        #expect(matches.count > 10)
        for match in matches {
            let words = match.output.1.split(separator: " ").map(String.init)
            let ending = await StarwatchTool.run(words + ["--help"])
            #expect(ending.output.contains("USAGE"), "starwatch \(match.output.1)")
        }
    }

    private static func readme() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    }
}
