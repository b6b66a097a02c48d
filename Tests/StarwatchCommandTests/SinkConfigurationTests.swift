import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

/// The settings of sinks reach the options.
@Suite struct SinkConfigurationTests {
    @Test func aProxyReachesTheServerAndTheSink() throws {
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
        let sink = "{name: w, kind: webhook, url: https://a.test, proxy: environment}"
        let yaml = "server: {proxy: \"socks5h://proxy.internal:1080\"}\ndelivery: {sinks: [\(sink)]}"
        let loaded = try loader.load(text: yaml, file: "x", directory: "/nowhere")
        #expect(loaded.options.server.proxy == "socks5h://proxy.internal:1080")
        #expect(loaded.options.delivery.sinks.map { $0["proxy"] } == ["environment"])
        #expect(ConfigurationPrinter.yaml(loaded).contains("proxy: environment"))
    }

    @Test func theLoginOfAProxyIsInAFile() throws {
        let folder = try TemporaryFolder()
        let login = try folder.write("me:word\n", to: "login")
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
        let proxy = "proxy: \"http://proxy.test:3128\", proxy_login_file: login"
        let sink = "{name: w, kind: ntfy, url: https://a.test, topic: t, \(proxy)}"
        let yaml = "server: {\(proxy)}\ndelivery: {sinks: [\(sink)]}"
        let loaded = try loader.load(text: yaml, file: "x", directory: folder.path)
        #expect(loaded.options.server.proxyLoginFile == login)
        #expect(loaded.options.delivery.sinks.map { $0["proxy_login_file"] } == [.text(login)])
        #expect(loaded.options.secretFiles == [login, login])
        #expect(!ConfigurationPrinter.yaml(loaded).contains("me:word"))
    }

    @Test func aTopicIsOneOfTelegrams() throws {
        let folder = try TemporaryFolder()
        try folder.write("12:token", to: "t")
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
        let sink = "{name: w, kind: webhook, format: telegram, room: \"-1\", topic: 42, token_file: t}"
        let loaded = try loader.load(text: "delivery: {sinks: [\(sink)]}", file: "x", directory: folder.path)
        #expect(loaded.options.delivery.sinks.first?["topic"] == 42)
        #expect(ConfigurationPrinter.yaml(loaded).contains("topic: 42"))
    }

    @Test func aSinkHasQuietHoursOrTimesOfDelivery() throws {
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
        let yaml = """
            delivery:
              sinks:
                - {name: a, kind: log, quiet_hours: 22:00-07:00, timezone: Europe/Zurich}
                - {name: b, kind: log, deliver_at: ["08:00", "17:30"]}
                - {name: c, kind: log, quiet_hours: null}
            """
        let loaded = try loader.load(text: yaml, file: "x", directory: "/nowhere")
        let sinks = loaded.options.delivery.sinks
        let hours: [SinkHours?] = [
            QuietHours("22:00-07:00").map { .quiet($0) }, .deliverAt(["08:00", "17:30"].compactMap(DayTime.init)), nil,
        ]
        #expect(sinks.map(\.hours) == hours)
        #expect(sinks.map(\.timezone) == ["Europe/Zurich", nil, nil])
        // Printed so that it reads back.
        let again = try loader.load(text: ConfigurationPrinter.yaml(loaded), file: "x", directory: "/nowhere")
        #expect(again.options.delivery.sinks == sinks)
    }

    @Test func mailsGoToOneAddressOrAListWithALogin() throws {
        let folder = try TemporaryFolder()
        try folder.write("secret", to: "password")
        func load(_ settings: String, _ more: String = "") throws -> LoadedConfiguration {
            let sink = "{name: m, kind: email, url: smtp://mail.test, from: A <a@a.test>, \(settings)}"
            return try ConfigurationLoader(environment: [:], workingDirectory: "/")
                .load(text: "delivery: {sinks: [\(sink)]}\n" + more, file: "x", directory: folder.path)
        }
        var mail = SinkOptions.Kind.email(url: "smtp://mail.test", from: "A <a@a.test>", to: ["me@a.test"])
        #expect(try load("to: me@a.test").options.delivery.sinks == [SinkOptions(name: "m", kind: mail)])
        (mail["to"], mail["username"]) = (.list(["me@a.test", "B <b@a.test>"]), "a")
        mail["password_file"] = .text(folder.path + "/password")
        let loaded = try load("to: [me@a.test, B <b@a.test>], username: a, password_file: password")
        #expect(loaded.options.delivery.sinks == [SinkOptions(name: "m", kind: mail)])
        #expect(loaded.options.secretFiles == [folder.path + "/password"])
        // Shown without addresses, and printed so that it reads back.
        let shown = ConfigurationPrinter.yaml(loaded)
        #expect(shown.contains("url: smtp://mail.test") && shown.contains("to: [<address>, <address>]"))
        #expect(!shown.contains("a.test>") && !shown.contains("me@a.test") && !shown.contains("username: a\n"))
    }

    @Test func eachOfManyAccountsCanBringItsMailAddress() throws {
        let folder = try TemporaryFolder()
        try folder.write(Data((0..<32).map { _ in 7 }).base64EncodedString(), to: "master.key")
        let yaml = """
            accounts: many
            security: {master_key_file: master.key}
            delivery: {sinks: [{name: m, kind: email, url: "smtps://mail.test", from: a@a.test}]}
            """
        let loaded = try ConfigurationLoader(environment: [:], workingDirectory: "/")
            .load(text: yaml, file: "x", directory: folder.path)
        #expect(loaded.options.delivery.sinks[0].partsOfAccounts.needed == [.to])
    }

    @Test(arguments: ["kind: did_key", "kind: shared_secret", "kind: shared_secret, secret_file: master.key"])
    func manyAccountsCanHaveAFileSinkAndTheirKeysInTheDatabase(_ auth: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(Data((0..<32).map { _ in 7 }).base64EncodedString(), to: "master.key")
        let yaml = """
            accounts: many
            auth: {\(auth)}
            security: {master_key_file: master.key}
            delivery: {sinks: [{name: journal, kind: file, path: out.jsonl}]}
            """
        let loaded = try ConfigurationLoader(environment: [:], workingDirectory: "/")
            .load(text: yaml, file: "x", directory: folder.path)
        #expect(loaded.options.tokens.storedKeys == !auth.contains("secret_file"))
    }

    @Test func theAddressOfAChatCanBeInAFileThatIsChecked() throws {
        let folder = try TemporaryFolder()
        func load(_ address: String) throws -> [SinkOptions] {
            try folder.write(address, to: "url")
            let yaml = "delivery: {sinks: [{name: room, kind: webhook, format: slack, url_file: url, timeout: 3s}]}"
            return try ConfigurationLoader(environment: [:], workingDirectory: "/")
                .load(text: yaml, file: "starwatch.yaml", directory: folder.path).options.delivery.sinks
        }
        let chat = SinkOptions.Kind.chat(
            .slack,
            ["url_file": .text(folder.path + "/url"), "timeout": .time(.seconds(3))]
        )
        #expect(try load("https://hooks.slack.com/services/T/B/x\n") == [SinkOptions(name: "room", kind: chat)])
        for (wrong, says) in [
            ("nothing", "contains a bad address: it must be a URL"), ("https://a.test/x", "with /services/ in it."),
            ("http://a.test/services/x", "must start with https://"),
        ] {
            let failure = #expect(throws: ConfigurationFailure.self) { try load(wrong) }
            #expect(
                failure?.lines.count == 1 && failure?.lines.first?.contains(says) == true,
                "\(failure?.lines ?? [])"
            )
            #expect(failure?.lines.first?.contains("delivery.sinks[0].url_file") == true)
        }
    }

    @Test func aRoomOfMatrixIsItsIDAndNoAlias() throws {
        let folder = try TemporaryFolder()
        try folder.write("secret", to: "token")
        func load(_ room: String) throws -> [SinkOptions] {
            let chat = "format: matrix, url: https://a.test, room: \"\(room)\", token_file: token"
            return try ConfigurationLoader(environment: [:], workingDirectory: "/")
                .load(
                    text: "delivery: {sinks: [{name: room, kind: webhook, \(chat)}]}",
                    file: "starwatch.yaml",
                    directory: folder.path
                ).options.delivery.sinks
        }
        #expect(try load("!abc:a.test").count == 1)
        let failure = #expect(throws: ConfigurationFailure.self) { try load("#abc:a.test") }
        let expected = "delivery.sinks[0].room: must be the id of the room, which starts with !"
        #expect(failure?.lines.count == 1 && failure?.lines.first?.contains(expected) == true)
    }

    @Test func theAddressOfAWebhookWithoutAChatCanBeInAFileThatIsChecked() throws {
        let folder = try TemporaryFolder()
        func load(_ address: String, and more: String = "") throws -> LoadedConfiguration {
            try folder.write(address, to: "url")
            let yaml = "delivery: {sinks: [{name: hook, kind: webhook, url_file: url\(more)}]}"
            return try ConfigurationLoader(environment: [:], workingDirectory: "/")
                .load(text: yaml, file: "starwatch.yaml", directory: folder.path)
        }
        let loaded = try load("https://a.test/?key=secret\n")
        var sink = SinkOptions(name: "hook", kind: .webhook(url: "", secretFile: nil, timeout: .seconds(10)))
        sink["url_file"] = .text(folder.path + "/url")
        #expect(loaded.options.delivery.sinks == [sink] && !sink.isOfAccounts)
        #expect(loaded.options.secretFiles.contains(folder.path + "/url"))
        #expect(ConfigurationPrinter.yaml(loaded).contains("/url"))
        for (wrong, more, says) in [
            ("nothing", "", "contains a bad address: it must be a URL"),
            ("https://a.test/", ", url: \"https://a.test/\"", "and url_file are both set; remove one."),
        ] {
            let failure = #expect(throws: ConfigurationFailure.self) { try load(wrong, and: more) }
            #expect(failure?.lines.first?.contains(says) == true, "\(failure?.lines ?? [])")
        }
    }

    @Test func theBodyOfAWebhookIsReadFromAFileThatOnlyItsPathNames() throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"key": "a-secret", "text": "{{title}}"}"#, to: "body.json")
        let yaml = "delivery: {sinks: [{name: hook, kind: webhook, url: https://a.test/, body_file: body.json}]}"
        func load(secrets: Bool = true) throws -> LoadedConfiguration {
            try ConfigurationLoader(environment: [:], workingDirectory: "/", checksSecrets: secrets)
                .load(text: yaml, file: "starwatch.yaml", directory: folder.path)
        }
        let loaded = try load()
        let sink = loaded.options.delivery.sinks[0]
        #expect(sink["body_file"]?.path == folder.path + "/body.json")
        let body = try #require(sink["body_file"]?.body).render(Array(#"{"title": "x"}"#.utf8))
        #expect(String(decoding: body, as: UTF8.self) == #"{"key": "a-secret", "text": "x"}"#)
        #expect(loaded.options.secretFiles.contains(folder.path + "/body.json"))
        for printed in [
            ConfigurationPrinter.yaml(loaded), try JSONOutput.encode(ConfigurationPrinter.settings(loaded)),
        ] {
            #expect(printed.contains("body.json") && !printed.contains("a-secret"))
        }
        // Another text is another configuration.
        try folder.write(#"{"text": "{{title}}"}"#, to: "body.json")
        #expect(try load().options != loaded.options)
        // A command that needs no secret does not read it.
        try folder.write("{{", to: "body.json")
        #expect(try load(secrets: false).options.delivery.sinks[0]["body_file"]?.path == folder.path + "/body.json")
    }
}
