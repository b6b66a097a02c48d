import Foundation
import Starwatch
import Testing

@testable import StarwatchCommand

/// The README and the pages of `docs/` match the program.
@Suite struct ReadmeTests {
    @Test func theMetricsTableIsTheCatalogueOfTheDefaultConfiguration() throws {
        let loaded = try ConfigurationLoader().load(text: "", file: "none", directory: "/")
        #expect(
            try Pages.generated("catalogue", in: "docs/metrics.md") == MetricCatalogue.markdown(for: loaded.options),
            "put the output of starwatch metrics catalogue --markdown for the default configuration into docs/metrics.md"
        )
    }

    @Test func theTablesOfEventsAreTheCatalogue() throws {
        let tables = try Pages.generated("events", in: "docs/logs.md")
        #expect(tables == Self.catalogue, "put this into docs/logs.md:\n\(Self.catalogue)")
    }

    /// A table of events and a table of fields.
    private static var catalogue: String {
        let events = AgentEvent.allCases.map { event in
            let fields = event.fields.map { "`\($0.rawValue)`" } + event.optionalFields.map { "[`\($0.rawValue)`]" }
            return [
                "`\(event.name)`", "\(event.level)", fields.joined(separator: " "),
                event.meaning() + (event.mayFold ? "" : " Never folded.")
                    + (event.isBoxed ? "" : " Not in the black box."),
            ]
        }
        let fields = LogField.allCases.map { ["`\($0.rawValue)`", $0.kind.rawValue, $0.meaning] }
        return table(["event", "level", "fields", "meaning and advice"], events) + "\n"
            + table(["field", "kind", "meaning"], fields)
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }

    @Test func everyEventIsListedOnceInTheOrderOfNames() throws {
        let source = try Pages.text("Sources/Starwatch/Logs/AgentEvent+Catalogue.swift")
        let declared = source.matches(of: /AgentEvent\(\s*"([a-z_.]+)"/).map { String($0.1) }
        #expect(declared.count > 60)
        #expect(AgentEvent.allCases.map(\.name) == declared)
        #expect(declared == declared.sorted())
    }

    @Test func theTablesOfSettingsAreTheReference() throws {
        let page = try Pages.text("docs/configuration.md")
        let names = page.matches(of: /<!-- settings: ([a-z]+) -->/).map { String($0.1) }
        #expect(names == ConfigurationReference.sections.map { String($0.name) })
        for (name, table) in ConfigurationReference.sections {
            #expect(
                try Pages.generated("settings: \(name)", in: "docs/configuration.md") == table,
                "put the section \(name) of starwatch config reference into docs/configuration.md"
            )
        }
    }

    @Test func everyTopLevelCommandOfTheReadmeExists() async throws {
        let pages = try Pages.documentation().map { try Pages.text($0) }.joined(separator: "\n")
        let commands = Set(pages.matches(of: /\nstarwatch (config [a-z]+|[a-z][a-z-]*)/).map(\.output.1))
        #expect(commands.count > 10)
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            let ending = await StarwatchTool.run(words + ["--help"])
            #expect(ending.output.contains("USAGE: starwatch \(command)"), "starwatch \(command)")
        }
    }

    /// Whole files and parts of one; the files that they name exist here.
    @Test func everyExampleOfAConfigurationIsGood() throws {
        let folder = try TemporaryFolder()
        let files = [
            "key", "hook.secret", "token", "ntfy-token", "master.key", "server.pem", "server.key", "clients.pem",
            "telegram.token", "mail.password", "feed.token",
        ]
        try folder.write("https://hooks.slack.com/services/T0/B0/x\n", to: "slack.url")
        for name in files { try folder.write("a-content-of-some-length", to: name) }
        let bodies = try Pages.text("docs/notifications-and-sinks.md").components(separatedBy: "```json\n")
        try folder.write(bodies[1].components(separatedBy: "```")[0], to: "pager.json")
        var count = 0
        for page in try Pages.documentation() {
            for block in try Pages.text(page).components(separatedBy: "```yaml\n").dropFirst() {
                let yaml = block.components(separatedBy: "```")[0]
                    .replacing("0xYOUR_ADDRESS", with: "0x0000000000000000000000000000000000000000")
                guard !yaml.hasPrefix("rule_files"), !yaml.hasPrefix("scrape_configs") else { continue }
                count += 1
                do {
                    let loader = ConfigurationLoader(environment: [:], workingDirectory: "/")
                    if yaml.hasPrefix("tls_server_config") {
                        _ = try loader.loadWebConfiguration(text: yaml, file: page, directory: folder.path)
                    } else {
                        _ = try loader.load(text: yaml, file: page, directory: folder.path)
                    }
                } catch {
                    Issue.record("\(page): \(error.lines)\n\(yaml)")
                }
            }
        }
        #expect(count >= 3)
    }

    /// The commands of a fresh clone, each with what it installs and how long it takes.
    @Test func theReadmeSaysHowToTryAndTestAFreshClone() throws {
        let section = try #require(try Pages.text("README.md").components(separatedBy: "## Try it\n").dropFirst().first)
        let block = try #require(section.components(separatedBy: "```\n").dropFirst().first)
        let lines = block.split(separator: "\n")
        let setup = try Pages.text("scripts/setup")
        #expect(lines.count == 2)
        let expected = [
            ("scripts/demo", "--demo", ["libraries"]), ("scripts/test", "", ["Prometheus", "newsboat"]),
        ]
        for (line, (script, argument, installed)) in zip(lines, expected) {
            #expect(line.hasPrefix("\(script) ") && line.contains(/# about \d+ minutes/), "\(line)")
            #expect(line.contains("installs") && installed.allSatisfy { line.contains($0) }, "\(line)")
            // What the line names is what the script installs.
            #expect(try Pages.text(script).contains("scripts/setup \(argument)".trimmingCharacters(in: .whitespaces)))
            for package in installed.dropFirst(argument.isEmpty ? 0 : 1) {
                #expect(setup.contains(package.lowercased()), "\(package)")
            }
        }
    }

    /// The commands of the section "Configure" up to the first run, with a key of a DID.
    @Test func theReadmesConfigurationByHandGivesAnEncryptedDatabase() async throws {
        let section = try #require(
            try Pages.text("README.md").components(separatedBy: "## Configure\n").dropFirst().first
        )
        let blocks = section.components(separatedBy: "\n```")
        let folder = try TemporaryFolder()
        let key = String(repeating: "1", count: 64)
        try folder.write(key, to: "key")
        let yaml = blocks[1].split(separator: "\n", maxSplits: 1)[1]
            .replacing("did:ethr:0xYOUR_ADDRESS", with: try Trial.did(ofKey: Array(key.utf8)).rawValue)
            .replacing("YOUR_PLAN", with: "01JWMCKG0022HDXJ4G4Q61XV37")
        try folder.write(yaml + "\n", to: "starwatch.yaml")
        let commands = blocks[3].split(separator: "\n").map { line in
            line.split(separator: "#")[0].split(separator: " ").map(String.init)
        }
        #expect(commands.last.map { Array($0.prefix(2)) } == ["starwatch", "run"])
        for command in commands.dropLast() {
            if command.first == "mkdir" {
                try FileManager.default.createDirectory(
                    atPath: folder.path + "/" + command.last!,
                    withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o700]
                )
                continue
            }
            try #require(command.first == "starwatch")
            let words = command.dropFirst()
                .map { $0.hasPrefix("master.") || $0.hasPrefix("starwatch.") ? "\(folder.path)/\($0)" : $0 }
            let ending = await StarwatchTool.run(words)
            #expect(ending.exitCode == .good, "\(command): \(ending.errorLines)")
        }
        let options = try ConfigurationLoader(environment: [:]).load(file: folder.path + "/starwatch.yaml").options
        let master = try #require(try await DatabaseEncryption.key(of: options.security))
        try await Agent(options: options, time: SystemClock(), logSinks: []).close()
        #expect(try DatabaseEncryption.stored(at: options.storage.path) == .encrypted(key: master.id))
        #expect(options.storage.path.hasPrefix(folder.path + "/data/"), "the key is not beside the data")
    }

    /// It is a sentence of the program. The page about the key has it too; all others refer to the two.
    @Test func theAdviceToCopyTheMasterKeyIsSaidOnce() async throws {
        let advice = KeyFiles.copyAdvice("the key")
        #expect(try Pages.text("docs/security.md").contains(advice))
        let words = /password manager|[Ww]ithout (it|this key) the database|without\s+it nobody/
        let pages = try Pages.documentation().filter { try Pages.text($0).contains(words) }
        #expect(pages == ["docs/security.md"])
        for command in [["init"], ["keys"], ["keys", "init"], ["keys", "rotate"]] {
            let help = await StarwatchTool.run(command + ["--help"]).output.replacing(/\s+/, with: " ")
            #expect(!help.isEmpty && !help.contains(words), "\(command)")
        }
    }

    @Test func theReadmesDiagramNamesEveryKindOfSink() throws {
        let kinds = SinkFactory.kinds.map { $0.kind }.joined(separator: ", ")
        #expect(try Pages.text("README.md").contains("  \(kinds)\n"))
    }

    @Test func theReadmeIsShort() throws {
        #expect(try Pages.text("README.md").split { $0.isWhitespace }.count <= 1200)
    }
}
