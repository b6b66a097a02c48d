import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The commands of the first five minutes, and those that look after an installation.
@Suite(.timeLimit(.minutes(5))) struct InstallationTests {
    private static let did = "did:ethr:0x00000000000000000000000000000000000000aa"
    private static let key = String(repeating: "1", count: 64)

    private struct Report: Decodable {
        struct Finding: Decodable {
            let area: String
            let state: String
            let text: String
        }

        let findings: [Finding]

        init(_ result: CommandResult) throws {
            self = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        }

        func states(_ state: String) -> [String] { findings.filter { $0.state == state }.map(\.area) }
    }

    private func with(
        auth: MockAuth = .none,
        _ body: (MockServer, Workspace) async throws -> Void
    ) async throws {
        var options = MockServerOptions()
        options.planCount = 3
        options.auth = auth
        if auth != .none { options.dialect = .canonical }
        let mock = MockServer(options: options)
        try await mock.start()
        try await body(mock, try Workspace())
        try await mock.stop()
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    private func initialize(_ mock: MockServer, _ workspace: Workspace, _ more: [String]) async throws -> CommandResult
    {
        let stars = mock.planIDs.flatMap { ["--star", $0] }
        return try await starwatch(["init", "--server", mock.url, "--folder", workspace.url.path] + stars + more)
    }

    // MARK: - init

    @Test func initTriesTheServerAndTheSinkAndWritesClosedFiles() async throws {
        try await with { mock, workspace in
            mock.publish(count: 2)
            // Downloaded keys can often be read by everyone.
            try Self.key.write(to: workspace.url.appending(path: "downloaded"), atomically: true, encoding: .utf8)
            let answers = ["--key-file", workspace.path("downloaded"), "--sink", "webhook:\(mock.url)/hook"]
            let result = try await initialize(mock, workspace, answers)
            #expect(result.status == 0, "\(result.output)\(result.errors)")
            #expect(try mode(workspace.path("starwatch.yaml")) == 0o600)
            #expect(try mode(workspace.path("key")) == 0o600)
            let command = "starwatch run --config \(workspace.path("starwatch.yaml"))"
            #expect(result.output.contains("\nNext:\n  \(command)\n"))
            #expect(!result.output.contains(Self.key) && !result.errors.contains(Self.key))
            #expect(mock.receivedNotifications.count == 3)
            #expect(mock.acknowledgedIDs == [])
            let check = try await starwatch("check", "--config", workspace.path("starwatch.yaml"))
            #expect(check.status == 0, "\(check.errors)")
            // Nothing but the files and the folder of the data remains, neither a database nor a folder of the trial.
            let names = try FileManager.default.contentsOfDirectory(atPath: workspace.url.path).sorted()
            #expect(names == ["data", "downloaded", "key", "master.key", "starwatch.yaml"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.path("data")) == [])
        }
    }

    @Test func initWritesNothingIfTheSinkRefuses() async throws {
        try await with { mock, workspace in
            mock.setStickyFault(.status(400), at: .hook)
            let answers = ["--did", Self.did, "--sink", "webhook:\(mock.url)/hook"]
            let result = try await initialize(mock, workspace, answers)
            #expect(result.status == 1)
            #expect(result.output.contains("The sink refused the notification (HTTP 400)."))
            #expect(result.errors.contains("Nothing was written"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.url.path) == [])
            let untested = try await initialize(mock, workspace, answers + ["--untested"])
            #expect(untested.status == 0, "\(untested.errors)")
        }
    }

    @Test func initWritesNothingIfTheServerRefusesTheToken() async throws {
        try await with(auth: .sharedSecret(Array("the right secret, of 32 bytes....".utf8))) { mock, workspace in
            try workspace.write("a wrong secret, also of 32 bytes..", to: "given")
            let answers = ["--did", Self.did, "--secret-file", workspace.path("given"), "--sink", "log"]
            let result = try await initialize(mock, workspace, answers)
            #expect(result.status == 1)
            #expect(result.output.contains("problem  token"), "\(result.output)")
            #expect(!FileManager.default.fileExists(atPath: workspace.path("starwatch.yaml")))
        }
    }

    @Test func anInterruptedInitLeavesNoCopyOfTheKey() async throws {
        try await with { mock, workspace in
            try workspace.write(Self.key, to: "did.key")
            mock.setStickyFault(.neverAnswer, at: .plansChanged)
            let process = Process()
            process.executableURL = Binary.starwatch
            let arguments = ["--key-file", workspace.path("did.key"), "--sink", "log", "--star", mock.planIDs[0]]
            process.arguments = ["init", "--server", mock.url, "--folder", workspace.url.path] + arguments
            process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": workspace.url.path]) { $1 }
            process.standardInput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.start()
            let isWaiting = await eventually { mock.requests(to: .plansChanged).isEmpty ? nil : true }
            #expect(isWaiting == true)
            process.interrupt()
            await process.end()
            #expect(process.terminationStatus == 130)
            #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.url.path) == ["did.key"])
        }
    }

    @Test func initKeepsAFormerConfiguration() async throws {
        try await with { mock, workspace in
            try workspace.write("log: {level: debug}\n", to: "starwatch.yaml")
            let result = try await initialize(mock, workspace, ["--did", Self.did, "--sink", "log"])
            #expect(result.status == 0, "\(result.errors)")
            // The log has the test notifications and nothing else.
            let logged = result.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
            #expect(logged.count == 3, "\(logged)")
            #expect(logged.allSatisfy { $0.contains(#""event":"notification","#) }, "\(logged)")
            let old = try String(contentsOfFile: workspace.path("starwatch.yaml.old"), encoding: .utf8)
            #expect(old == "log: {level: debug}\n")
            #expect(try mode(workspace.path("starwatch.yaml.old")) == 0o600)
        }
    }

    @Test func initWithoutATerminalNamesTheMissingOption() async throws {
        let workspace = try Workspace()
        let result = try await starwatch("init", "--sink", "log", "--folder", workspace.url.path)
        #expect(result.status == 2)
        #expect(result.errors.contains("give it with --did or --key-file"))
    }

    @Test(arguments: [("email", "--sink email:smtps://HOST/ADDRESS"), ("telegram:12", "--sink-secret-file")])
    func initWithoutATerminalNamesWhatASinkLacks(sink: String, missing: String) async throws {
        let workspace = try Workspace()
        let arguments = ["init", "--did", Self.did, "--sink", sink, "--folder", workspace.url.path]
        let result = try await starwatch(arguments)
        #expect(result.status == 2)
        #expect(result.errors.contains("give it with \(missing)."))
    }

    // MARK: - doctor

    @Test func doctorFindsNoProblemInAWorkingInstallation() async throws {
        try await with { mock, workspace in
            let sinks = TestConfiguration.webhook(mock.url)
            let configuration = TestConfiguration(server: mock.url, plans: mock.planIDs, sinks: sinks)
            try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
            let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
            await agent.pages.waitForPoll()
            _ = try await agent.pages.get("/metrics", headers: ["X-Prometheus-Scrape-Timeout-Seconds": "10"])
            let result = try await starwatch("doctor", "--json", "--config", workspace.path("starwatch.yaml"))
            #expect(result.status == 0, "\(result.output)\(result.errors)")
            let report = try Report(result)
            #expect(report.states("problem") == [])
            let areas = [
                "agent", "health", "dns", "connection", "server", "clock", "token", "poll starred_projects",
                "database", "scraping",
            ]
            #expect(Set(report.states("ok")).isSuperset(of: areas))
            // The receiver takes POST alone.
            #expect(report.states("skipped") == ["tls", "sink hook", "rules", "alerting"])
            #expect(mock.receivedNotifications.isEmpty)
            #expect(!result.output.contains("0x00") && !result.output.contains(mock.planIDs[0]))
        }
    }

    @Test func doctorNamesAServerASinkAndFilesThatAreWrong() async throws {
        try await with { mock, workspace in
            let sinks = TestConfiguration.webhook("http://127.0.0.1:\(try FreePort.take())")
            var configuration = TestConfiguration(server: mock.url, plans: mock.planIDs, sinks: sinks)
            configuration.server = "http://127.0.0.1:\(try FreePort.take())"
            try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
            try workspace.write("", to: "starwatch.db")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644],
                ofItemAtPath: workspace.path("starwatch.db")
            )
            let result = try await starwatch("doctor", "--json", "--config", workspace.path("starwatch.yaml"))
            #expect(result.status == 1)
            let report = try Report(result)
            #expect(report.states("problem") == ["files", "agent", "connection", "sink hook"])
            #expect(report.findings.first { $0.area == "files" }?.text.hasSuffix("run chmod 600 on it.") == true)
        }
    }

    @Test func doctorWithoutAConfigurationPrintsJSONToo() async throws {
        let result = try await starwatch("doctor", "--json", environment: ["STARWATCH_CONFIG": ""])
        #expect(result.status == 1)
        let report = try Report(result)
        #expect(report.states("problem") == ["configuration"])
        #expect(report.findings.first?.text.hasPrefix("No configuration file was found;") == true)
    }

    /// systemd gives the secret to the service alone.
    @Test func anOperatorWithoutTheSecretCanLookAfterTheAgent() async throws {
        let secret = Array("a secret of more than 32 bytes....".utf8)
        try await with(auth: .sharedSecret(secret)) { mock, workspace in
            var configuration = TestConfiguration(
                server: mock.url,
                plans: mock.planIDs,
                sinks: TestConfiguration.file(workspace)
            )
            configuration.auth = "kind: shared_secret\n  secret_file: shared.secret"
            try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
            let credentials = try Workspace()
            try credentials.write(String(decoding: secret, as: UTF8.self), to: "shared.secret")
            let config = workspace.path("starwatch.yaml")
            let agent = try await RunningAgent(
                config: config,
                in: workspace,
                environment: ["CREDENTIALS_DIRECTORY": credentials.url.path]
            )
            await agent.pages.waitForPoll()
            for command in [
                ["status"], ["outbox", "list"], ["stars", "list"], ["poll", "starred_projects"], ["logs"],
                ["sinks", "test", "file"], ["config", "print"], ["next-runs", "starred_projects"],
            ] {
                let result = try await starwatch(command + ["--config", config])
                #expect(result.status == 0, "\(command): \(result.errors)")
            }
            let report = try Report(try await starwatch("doctor", "--json", "--config", config))
            #expect(report.states("problem") == [])
            // The agent tries its own token.
            #expect(Set(report.states("ok")).isSuperset(of: ["token", "poll starred_projects"]))
        }
    }

    // MARK: - sinks test

    @Test func aTestNotificationArrivesWithAndWithoutAnAgent() async throws {
        try await with { mock, workspace in
            let sinks = TestConfiguration.webhook(mock.url)
            let configuration = TestConfiguration(server: mock.url, plans: mock.planIDs, sinks: sinks)
            try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
            let config = workspace.path("starwatch.yaml")
            let alone = try await starwatch("sinks", "test", "hook", "--config", config)
            #expect(alone.status == 0, "\(alone.errors)")
            #expect(!FileManager.default.fileExists(atPath: workspace.path("starwatch.db")))
            let agent = try await RunningAgent(config: config, in: workspace)
            let running = try await starwatch("sinks", "test", "hook", "--config", config)
            #expect(running.output.hasPrefix("hook: ok in "))
            #expect(running.output.contains("\n  several changes: ok."))
            #expect(mock.receivedNotifications.count == 6)
            #expect(try await agent.pages.metric("starwatch_deliveries_total{sink=\"hook\",result=\"ok\"}") ?? 0 == 0)
            mock.setStickyFault(.status(503, body: "busy until noon"), at: .hook)
            let refused = try await starwatch("sinks", "test", "hook", "--config", config)
            #expect(refused.status == 1)
            #expect(refused.output.contains("The sink answered that it is not available (HTTP 503)."))
            #expect(refused.output.hasSuffix("  one change with a link: unavailable. Answer: busy until noon\n"))
            let unknown = try await starwatch("sinks", "test", "nobody", "--config", config)
            #expect(unknown.status == 1)
            #expect(unknown.errors == "starwatch: There is no sink of that name; the sinks are hook.\n")
        }
    }
}
