import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct ConfigurationPrinterTests {
    private let loader = ConfigurationLoader(environment: [:], workingDirectory: "/")

    private func load(_ yaml: String, directory: String = "/srv/starwatch") throws -> LoadedConfiguration {
        try loader.load(text: yaml, file: "starwatch.yaml", directory: directory)
    }

    /// The lines that hold settings, without comments and the spaces before them.
    private func settings(_ yaml: String) -> [String] {
        yaml.split(separator: "\n").compactMap { line in
            var text = line.hasPrefix("#") || line.contains("  # - ") || line.contains("  #   ") ? "" : String(line)
            if let comment = text.range(of: " #") { text = String(text[..<comment.lowerBound]) }
            while text.last == " " { text.removeLast() }
            return text.isEmpty ? nil : text
        }
    }

    @Test func theDefaultConfigurationMeansTheDefaults() throws {
        #expect(try load(ConfigurationPrinter.defaults).options == load("").options)
    }

    /// The line of a poll's kind would be too long with its seven choices.
    @Test func theReferenceListsChoicesThatTheDefaultConfigurationHasNoRoomFor() {
        for (path, words) in [
            ("polls.NAME.kind", PollKind.allCases.map(\.rawValue)),
            ("delivery.sinks[webhook].format", SinkFormat.allCases.map(\.rawValue)),
        ] {
            let choices = words.joined(separator: " | ") + "; "
            let row = ConfigurationReference.settings.first { $0.path == path }
            #expect(row?.comment.hasPrefix(choices) == true, "\(path)")
            #expect(!ConfigurationPrinter.defaults.contains(choices), "\(path)")
        }
    }

    @Test func theDefaultConfigurationHoldsEverySettingInOrder() throws {
        let printed = ConfigurationPrinter.yaml(try load(""))
            .replacingOccurrences(of: "/srv/starwatch/", with: "./")
        let text = ConfigurationPrinter.defaults
        #expect(settings(text).count > 60)
        #expect(settings(text) == settings(printed))
    }

    @Test func theDefaultConfigurationFitsATerminal() {
        #expect(ConfigurationPrinter.defaults.split(separator: "\n").allSatisfy { $0.count <= 120 })
        #expect(ConfigurationPrinter.defaults.hasSuffix("\n"))
    }

    @Test func itsExamplesOfPollsAreOneOfEachKind() throws {
        let text = ["offers", "gives", "confirmations", "projects"].reduce(ConfigurationPrinter.defaults) {
            text,
            word in
            text.replacing("  # \(word)_", with: "  \(word)_").replacing(
                "  #   kind: \(word)",
                with: "    kind: \(word)"
            )
        }
        let list = ["kind: json", "url: https://api.example.org/releases", "id: /id", "name: /title"]
        let all = list.reduce(text.replacing("  # json:", with: "  json:")) { text, line in
            text.replacing("  #   \(line)\n", with: "    \(line)\n")
        }
        let polls = try load(all).options.polls
        #expect(
            polls.map(\.kind) == PollKind.allCases && polls.map(\.name.rawValue) == PollKind.allCases.map(\.rawValue)
        )
    }

    @Test func itsExamplesOfSinksAreGood() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "hook.secret")
        try folder.write("x", to: "ntfy.token")
        try folder.write("x", to: "mail.password")
        try folder.write("https://hooks.slack.com/services/T/B/x", to: "slack.url")
        let start = try #require(ConfigurationPrinter.defaults.range(of: "\n  sinks:")?.lowerBound)
        let examples = ConfigurationPrinter.defaults[start...]
            .replacingOccurrences(of: "  # - ", with: "    - ")
            .replacingOccurrences(of: "  #   ", with: "      ")
        let text = String(ConfigurationPrinter.defaults[..<start]) + examples
        let sinks = try load(text, directory: folder.path).options.delivery.sinks
        #expect(sinks.map(\.name) == ["log", "terminal", "feed", "journal", "hook", "room", "phone", "mail", "script"])
        #expect(sinks[4].kind.type == WebhookSink.self && sinks[4]["timeout"] == .time(.seconds(10)))
        #expect(sinks[2].kind == .feed(keep: 100))
    }

    @Test func whatIsPrintedReadsAsTheSameOptions() throws {
        let folder = try TemporaryFolder()
        for name in ["ca.pem", "s.key", "tokens", "hook.secret", "ntfy.token", "control.token"] {
            try folder.write("a-content-of-more-than-thirty-two-bytes", to: name)
        }
        try folder.write("basic_auth_users: {}\n", to: "web.yml")
        var loaded = try load(ConfigurationLoaderTests.everything, directory: folder.path)
        // Hidden values cannot be read back.
        loaded.options.initialIdentity = nil
        loaded.options.auth.argv = ["/bin/token"]
        loaded.options.polls[0].planIDs = []
        loaded.options.delivery.sinks.removeAll { ["hook", "phone", "script"].contains($0.name) }
        let again = try load(ConfigurationPrinter.yaml(loaded), directory: "/elsewhere")
        #expect(again.options == loaded.options)
    }

    @Test func eachValueHasItsOrigin() throws {
        let yaml = "\nserver:\n  timeout: 5s\npolls:\n  starred_projects:\n\n    every: 1m\n"
        let lines = ConfigurationPrinter.yaml(try load(yaml)).split(separator: "\n").map(String.init)
        func origin(_ setting: String) -> String? {
            lines.first { $0.contains("  \(setting)  ") }?.split(separator: "#").last.map(String.init)
        }
        #expect(origin("timeout: 5s") == " file:3")
        #expect(origin("every: 1m") == " file:7")
        #expect(origin("kind: starred_projects") == " default")
        #expect(origin("url: https://api.endorser.ch") == " default")
        let values = lines.filter { !$0.hasSuffix(":") && !$0.hasPrefix("#") }
        #expect(values.allSatisfy { $0.contains("  # file:") || $0.hasSuffix("  # default") })
    }

    @Test func valuesToCompareGoByTheNamesOfTheFileAndShowEachChange() throws {
        let sinks = """
            delivery: {sinks: [{name: a, kind: log}, {name: hook, kind: webhook, url: "http://[::1]/one", required: true}]}
            identity: {did: "did:web:0xone"}
            """
        func names(_ changes: (String, String)...) throws -> [String] {
            let changed = changes.reduce(sinks) { $0.replacing($1.0, with: $1.1) }
            let before = ConfigurationPrinter.values(try load(sinks).options)
            let after = ConfigurationPrinter.values(try load(changed).options)
            return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
        }
        #expect(try names(("delivery: {", "delivery: {group_interval: 7m, ")) == ["delivery.group_interval"])
        #expect(try names(("required: true", "required: false")) == ["delivery.sinks.hook.required"])
        // What is secret or a person's is compared as it is.
        #expect(try names(("/one", "/two")) == ["delivery.sinks.hook.url"])
        #expect(try names(("0xone", "0xtwo")) == ["identity.did"])
        #expect(try names().isEmpty)
    }

    @Test func secretsAndPersonsAreNotPrinted() throws {
        let folder = try TemporaryFolder()
        try folder.write("contents-of-secret", to: "hook.secret")
        let yaml = """
            identity: {did: "did:web:0xperson"}
            auth: {kind: command, argv: [/bin/token, --password, argument-secret]}
            polls: {starred_projects: {plan_ids: [https://example.org/starred-plan]}}
            delivery:
              sinks:
                - {name: a, kind: webhook, url: "https://example.org/path-secret?query-secret", secret_file: hook.secret}
                - {name: b, kind: ntfy, url: https://ntfy.sh, topic: topic-secret}
                - {name: c, kind: command, argv: [/bin/notify, sink-secret]}
            """
        let printed = ConfigurationPrinter.yaml(try load(yaml, directory: folder.path))
        let hidden = [
            "0xperson", "argument-secret", "starred-plan", "path-secret", "query-secret", "topic-secret",
            "sink-secret", "contents-of-secret",
        ]
        for word in hidden { #expect(!printed.contains(word), "\(word)") }
        #expect(printed.contains("did: <did>"))
        #expect(printed.contains("plan_ids: [<plan>]"))
        #expect(printed.contains("topic: <secret>"))
        #expect(printed.contains("url: https://example.org/<secret>"))
        #expect(printed.contains("argv: [/bin/notify, <secret>]"))
        #expect(printed.contains("secret_file: \(folder.path)/hook.secret"))
    }

    @Test(arguments: [
        "plain", "./a b", "*/15 * * * *", "no", "12", "1e3", "null", "a: b", "a #b", "it's", "\"q\"", "\\", "-x",
        "é",
        "a:", "tab\there", "line\nbreak", "[x]", "{x}", "&a", "!t", "%d", "@a", "`a", "true", "~", "a,b", "did:x:y",
    ])
    func everyTextIsQuotedAsItMustBe(_ text: String) throws {
        var loaded = try load("")
        loaded.options.server.pinnedPublicKey = nil
        loaded.options.delivery.sinks = [SinkOptions(name: "a", kind: .file(path: "/" + text))]
        #expect(try load(ConfigurationPrinter.yaml(loaded)).options.delivery.sinks == loaded.options.delivery.sinks)
        let journal = ConfigurationJournal(files: FileResolver(directory: "/"))
        let node = try ConfigurationLoader.parse(ConfigurationPrinter.scalar(text))
        let field = SettingsField("key", in: "", line: nil, node: node, journal: journal)
        #expect(Rule<String>.text().read(field) == text)
        #expect(journal.problems.isEmpty)
    }
}
