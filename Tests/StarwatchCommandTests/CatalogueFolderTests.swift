import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct CatalogueFolderTests {
    private let loader = ConfigurationLoader(environment: [:], workingDirectory: "/")

    private func load(_ folder: TemporaryFolder) throws -> LoadedConfiguration {
        let yaml = "delivery:\n  locale: de\n  catalogues: ."
        return try loader.load(text: yaml, file: "starwatch.yaml", directory: folder.path)
    }

    @Test func itsTextsComeFirst() throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"notifications.starred_projects.action_dismiss": "Weg"}"#, to: "de.json")
        try folder.write("not a catalogue", to: "README.md")
        let loaded = try load(folder)
        let delivery = loaded.options.delivery
        let messages = delivery.catalogues.messages(for: try #require(LocaleTag(delivery.locale)))
        #expect(messages.text(.actionDismiss) == "Weg")
        #expect(messages.text(.actionMarkRead) == "Mark as Read")
        #expect(messages.locale.description == "de")
        #expect(delivery.catalogueFolder == folder.path)
        let again = try loader.load(text: ConfigurationPrinter.yaml(loaded), file: "again", directory: "/")
        #expect(again.options == loaded.options)
    }

    @Test(arguments: [
        (
            "de.json", #"{"staleness.banner.title": "{oops}"}"#,
            "de.json: staleness.banner.title: there is no variable oops"
        ),
        ("de.json", #"{"staleness.banner.title": "{"}"#, "de.json: staleness.banner.title: expected a variable"),
        (
            "de.json", #"{"notifications.starred_projects.single_update": ""}"#,
            "de.json: notifications.starred_projects.single_update: the text, or a branch that is all of it, is empty"
        ),
        ("de.json", #"{"nonsense": "x"}"#, "de.json: there is no message nonsense"),
        ("de.json", "[", "de.json: must be a JSON object of texts"),
        ("x.json", "{}", "x.json must be named by a locale"), ("tlh.json", "{}", "plural rules of this language"),
        ("de.txt", "{}", "contains no catalogue"),
    ])
    func aMistakeIsNamedWithItsFileAndItsKey(_ file: String, _ text: String, _ says: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(text, to: file)
        let failure = #expect(throws: ConfigurationFailure.self) { try load(folder) }
        #expect(failure?.lines.count == 1)
        let line = try #require(failure?.lines.first)
        #expect(line.contains(says), "\(line)")
        #expect(line.hasPrefix("starwatch.yaml:3:") && line.hasSuffix("."), "\(line)")
    }

    @Test func theSameLocaleTwiceIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "pt-BR.json")
        try folder.write("{}", to: "pt_br.json")
        let failure = #expect(throws: ConfigurationFailure.self) { try load(folder) }
        #expect(failure?.lines.first?.contains("same locale") == true)
    }

    @Test func namesOfProjectsAreReadAndNotPrinted() throws {
        let yaml = "delivery:\n  project_names: {\"https://e.ch/1\": Our garden}\n  staleness_notice: true"
        let loaded = try loader.load(text: yaml, file: "starwatch.yaml", directory: "/")
        #expect(loaded.options.delivery.projectNames == ["https://e.ch/1": "Our garden"])
        #expect(loaded.options.delivery.stalenessNotice == true)
        let printed = ConfigurationPrinter.yaml(loaded)
        #expect(!printed.contains("e.ch") && !printed.contains("garden"))
        #expect(printed.contains("project_names: {<plan>: <name>}"))
    }
}
