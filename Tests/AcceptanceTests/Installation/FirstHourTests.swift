import Foundation
import Glibc
import MockEndorser
import Testing

/// The first hour of an administrator: mistakes, commands as root, and a second init.
@Suite(.timeLimit(.minutes(5))) struct FirstHourTests {
    private static let did = "did:ethr:0x00000000000000000000000000000000000000aa"
    private static let plan = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
    /// Nobody, on Debian.
    private static let nobody = 65_534

    /// A mistake: the file, the line that is named, and a word of the sentence.
    private static let mistakes: [(yaml: String, place: String, says: String)] = [
        ("server:\n  url https://a.test\n", ":2: server: ", "colon"),
        ("server:\n  url: \u{201C}https://a.test\u{201D}\n", ":2: server.url: ", "straight"),
        ("identity:\n  did: did:ethr:0xYOUR_ADDRESS\n", ":2: identity.did: ", "placeholder"),
        ("polls:\n  p:\n    kind: starred_projects\n    schedule: */15 * * * *\n", ":4: ", "quote the schedule"),
        ("polls:\n  p:\n    kind: starred_projects\n    cron: \"0 * * * *\"\n", ":4: polls.p.cron: ", "schedule"),
        ("{\n  \"log\": {\"level\": \"info\"}\n  \"server\": {}\n}\n", ":2: ", "no comma"),
        ("delivery:\n  sinks: [phone]\n", ":2: delivery.sinks[0]: ", "a name and a kind"),
        ("storage:\n  path: /tmp\n", ":2: storage.path: ", "is a folder"),
        (
            "delivery:\n  sinks:\n    - name: p\n      kind: command\n      argv: [/nowhere/notify]\n",
            ":5: delivery.sinks[0].argv: ", "no program"
        ),
        ("http:\n  listen: 192.0.2.77:9464\n", ":2: http.listen: ", "does not have that address"),
        ("http:\n  listen: nosuch.invalid:9464\n", ":2: http.listen: ", "no host"),
        ("server:\n  ca_file: starwatch.yaml\n", ":2: server.ca_file: ", "PEM"),
    ]

    @Test(arguments: mistakes)
    func checkNamesTheLineOfAMistake(yaml: String, place: String, says: String) async throws {
        let workspace = try Workspace()
        try workspace.write(yaml, to: "starwatch.yaml")
        let file = workspace.path("starwatch.yaml")
        // The file as an argument is the same as --config.
        for arguments in [["check", file], ["check", "--config", file]] {
            let result = try await starwatch(arguments)
            #expect(result.status == 2)
            #expect(result.errors.hasPrefix(file + place) && result.errors.contains(says), "\(result.errors)")
            let lines = result.errors.split(separator: "\n")
            #expect(lines.count { !$0.contains(": warning: ") } == 1)
        }
    }

    @Test func checkSaysThatAKeyWithoutADIDWouldStartSignedOutAndDerivesIt() async throws {
        let workspace = try Workspace()
        try workspace.write(String(repeating: "1", count: 64), to: "key")
        let yaml = """
            auth: {kind: did_key, key_file: key}
            http: {listen: "127.0.0.1:0"}
            polls:
              starred_projects: {schedule: "0 6 * * *", plan_ids: ["\(Self.plan)"]}

            """
        try workspace.write(yaml, to: "starwatch.yaml")
        let result = try await starwatch("check", "--strict", workspace.path("starwatch.yaml"))
        #expect(result.status == 1)
        #expect(result.errors.contains("would start signed out"))
        let did = try #require(result.output.firstMatch(of: #/did:ethr:0x[0-9A-Fa-f]{40}/#)?.output)
        // A schedule of each day is not stale for 20 hours a day.
        #expect(result.output.contains("  starred_projects: up to 1 d between runs, stale after 1 d 1 h"))
        try workspace.write("identity: {did: \"\(did)\"}\n" + yaml, to: "starwatch.yaml")
        let good = try await starwatch("check", "--strict", workspace.path("starwatch.yaml"))
        #expect(good.status == 0, "\(good.errors)")
    }

    /// `sudo starwatch poll` before the first start.
    @Test(.enabled(if: geteuid() == 0))
    func rootLeavesNoFileThatTheServiceCannotOpen() async throws {
        let mock = MockServer(options: MockServerOptions())
        try await mock.start()
        let workspace = try Workspace()
        let sinks = "    - {name: log, kind: log}"
        var configuration = TestConfiguration(server: mock.url, plans: mock.planIDs, sinks: sinks)
        configuration.isEncrypted = false
        let state = workspace.path("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: workspace.url.path)
        try FileManager.default.setAttributes([.ownerAccountID: Self.nobody], ofItemAtPath: state)
        let yaml = configuration.yaml(in: workspace)
            .replacing(workspace.path("starwatch.db"), with: state + "/starwatch.db")
        try workspace.write(yaml, to: "starwatch.yaml")
        // What only reads leaves nothing.
        let read = try await starwatch("stars", "list", "--config", workspace.path("starwatch.yaml"))
        #expect(read.status == 1 && read.errors.contains("There is no database at "), "\(read.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: state) == [])
        let arguments = ["poll", "starred_projects", "--config", workspace.path("starwatch.yaml")]
        let result = try await starwatch(arguments)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("root works as user \(Self.nobody) here"))
        for name in try FileManager.default.contentsOfDirectory(atPath: state) {
            let owner = try FileManager.default.attributesOfItem(atPath: state + "/" + name)[.ownerAccountID]
            #expect((owner as? NSNumber)?.intValue == Self.nobody, "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: state + "/starwatch.db"))
        // An accident of earlier is named by the doctor, and no command makes it worse.
        try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: state + "/starwatch.db")
        let refused = try await starwatch(arguments)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("belongs to root, so the agent of user \(Self.nobody) cannot open it"))
        let doctor = try await starwatch("doctor", "--config", workspace.path("starwatch.yaml"))
        #expect(doctor.output.contains("its folder to user \(Self.nobody), the agent; run 'chown"), "\(doctor.output)")
        try await mock.stop()
    }

    /// They would run as the agent's user.
    @Test func anAgentStartsAndReloadsWithNoProgramThatOthersCanChange() async throws {
        let workspace = try Workspace()
        let program = workspace.path("notify")
        func setMode(_ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: program)
        }
        try workspace.write("#!/bin/sh\n", to: "notify")
        try setMode(0o777)
        let sink = "    - {name: notify, kind: command, argv: [\(program)]}"
        let configuration = TestConfiguration(server: "http://127.0.0.1:9", plans: [], sinks: sink)
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        let config = workspace.path("starwatch.yaml")
        let refused = try await starwatch("run", "--config", config)
        #expect(refused.status == 2)
        #expect(refused.errors.contains("argv: \(program) can be changed by other users; run 'chmod go-w \(program)'."))
        #expect(!FileManager.default.fileExists(atPath: workspace.path("starwatch.db")))
        try setMode(0o755)
        let agent = try await RunningAgent(config: config, in: workspace)
        #expect(try await starwatch("reload", "--config", config).status == 0)
        try setMode(0o757)
        let reload = try await starwatch("reload", "--config", config)
        #expect(reload.status == 2 && reload.errors.contains("can be changed by other users"), "\(reload.errors)")
        #expect(agent.isRunning)
    }

    @Test func aSecondInitSaysThatTheOldStarsStayWatched() async throws {
        var options = MockServerOptions()
        options.planCount = 3
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        func initialize(_ plan: String) async throws -> CommandResult {
            try await starwatch(
                "init",
                "--server",
                mock.url,
                "--folder",
                workspace.url.path,
                "--did",
                Self.did,
                "--sink",
                "feed",
                "--star",
                plan
            )
        }
        let first = try await initialize(mock.planIDs[0])
        #expect(first.status == 0, "\(first.output)\(first.errors)")
        #expect(!first.output.contains("which stay"))
        let config = workspace.path("starwatch.yaml")
        #expect(try await starwatch("poll", "starred_projects", "--config", config).status == 0)
        #expect(try await starwatch("stars", "list", "--config", config).output.hasPrefix(mock.planIDs[0]))
        let second = try await initialize(mock.planIDs[1])
        #expect(second.status == 0)
        #expect(
            second.output.contains(
                "has its own starred plans, which stay: 1 of the new configuration's plans is missing there"
            )
        )
        #expect(second.output.contains("starwatch stars set"))
        #expect(try await starwatch("stars", "list", "--config", config).output.hasPrefix(mock.planIDs[0]))
        try await mock.stop()
    }

    /// Without waiting for a schedule: the first poll runs at the start.
    @Test func initToTheFirstNotificationTakesNoSchedule() async throws {
        var options = MockServerOptions()
        options.planCount = 3
        let mock = MockServer(options: options)
        try await mock.start()
        mock.publish(count: 2)
        let workspace = try Workspace()
        let stars = mock.planIDs.flatMap { ["--star", $0] }
        let initialized = try await starwatch(
            ["init", "--server", mock.url, "--folder", workspace.url.path, "--did", Self.did]
                + ["--sink", "file:notifications.jsonl", "--announce-last-week"] + stars
        )
        #expect(initialized.status == 0, "\(initialized.output)\(initialized.errors)")
        #expect(initialized.output.contains("This user can write to \(workspace.path("notifications.jsonl"))"))
        let yaml = try String(contentsOfFile: workspace.path("starwatch.yaml"), encoding: .utf8)
        try workspace.write(yaml + "http: {listen: \"127.0.0.1:0\"}\n", to: "starwatch.yaml")
        let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        let arrived = await eventually {
            (try? String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)).flatMap {
                $0.contains("\n") ? true : nil
            }
        }
        #expect(arrived == true)
        _ = agent
        try await mock.stop()
    }
}
