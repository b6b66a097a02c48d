import ArgumentParser
import Foundation
import Glibc
import Starwatch
import StarwatchCore
import StarwatchHTTP
import Testing

@testable import StarwatchCommand

@Suite struct ConfigurationLoaderTests {
    /// A secret that is long enough for HS256.
    private static let word = String(repeating: "word", count: 8)

    private func load(_ yaml: String, directory: String = "/srv/starwatch") throws -> LoadedConfiguration {
        try ConfigurationLoader(environment: [:], workingDirectory: "/")
            .load(text: yaml, file: "starwatch.yaml", directory: directory)
    }

    private func firstProblem(_ loader: ConfigurationLoader, _ yaml: String, _ directory: String) -> String? {
        do throws(ConfigurationFailure) {
            _ = try loader.load(text: yaml, file: "starwatch.yaml", directory: directory)
            return nil
        } catch {
            return error.problems.first?.message
        }
    }

    @Test(arguments: ["", "\n# nothing\n", "server:\npolls:\n", "{}", "~"])
    func aFileThatSaysNothingGivesTheDefaults(_ yaml: String) throws {
        var expected = AgentOptions()
        expected.polls = [PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)]
        expected.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        expected.storage.path = "/srv/starwatch/starwatch.db"
        expected.control.socket = "/srv/starwatch/starwatch.sock"
        let loaded = try load(yaml)
        #expect(loaded.options == expected)
        #expect(loaded.origins.isEmpty)
    }

    @Test(arguments: [
        "https://grafana.example/d/starwatch/overview?orgId=1&from=now-6h&to=now&var-instance=agent-01.example:9464",
        "http://10.0.0.1:3000/dashboards#panel-4",
    ])
    func aLinkToDashboardsKeepsItsQueryAndFragment(link: String) throws {
        #expect(try load("http: {dashboards_url: \"\(link)\"}").options.http.dashboardsURL == link)
    }

    @Test func everySettingReachesTheOptions() throws {
        let folder = try TemporaryFolder()
        for name in ["ca.pem", "s.key", "tokens", "hook.secret", "ntfy.token", "control.token"] {
            try folder.write("a-content-of-more-than-thirty-two-bytes", to: name)
        }
        try folder.write("basic_auth_users: {}\n", to: "web.yml")
        let options = try load(Self.everything, directory: folder.path).options

        #expect(options.server.url == "http://127.0.0.1:8080/prefix")
        #expect(options.server.dialect == .canonical)
        #expect(options.server.timeout == .milliseconds(1500))
        #expect(options.server.userAgent == "TimeSafari-DailyNotificationPlugin/1.0.0")
        #expect(options.server.clientVersion == "TimeSafari-DailyNotificationPlugin/1.0.1")
        #expect(options.server.maxResponseBytes == 65_536)
        #expect(options.server.caFile == folder.path + "/ca.pem")
        #expect(options.server.pinnedPublicKey == "sha256//YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=")
        #expect(options.initialIdentity == DID("did:ethr:0x00000000000000000000000000000000000000ab"))
        #expect(options.auth.kind == .tokenPool)
        #expect(options.auth.tokensFile == folder.path + "/tokens")
        #expect(options.auth.argv == ["/bin/token", "--short"])
        #expect(options.auth.lifetime == .seconds(90))
        #expect(options.auth.refreshBefore == .seconds(5))
        #expect(options.auth.scope == "notifications:read")
        #expect(options.storage.path == "/var/lib/starwatch/x.db")
        #expect(options.storage.owner == .host)
        #expect(options.server.retryAttempts == 4)
        #expect(options.polls.map(\.name.rawValue) == ["starred_projects", "mine"])
        #expect(options.polls[0].timing == .cron("0 9 * * mon-fri", timezone: "Europe/Zurich"))
        #expect(options.polls[0].planIDs == ["https://example.org/a", "b"])
        #expect(options.polls[0].catchUp == CatchUp.none)
        #expect(options.polls[0].splay == .seconds(10))
        #expect(options.polls[0].bootstrap == .beginning)
        #expect(options.polls[0].validation == .strict)
        #expect(options.polls[0].quarantineInvalid == .atOnce)
        #expect(options.polls[1].kind == .offersToMyProjects)
        #expect(options.polls[1].timing == .every(.seconds(5)))
        #expect(options.polls[1].staleAfter == .seconds(60))
        #expect(options.polls[1].groupInterval == .seconds(60) && options.polls[1].maxGroupSize == 2)
        #expect(options.polls[0].groupInterval == nil && options.polls[0].maxGroupSize == nil)
        #expect(options.polls.map(\.priority) == [0, -3])
        #expect(options.polls.map(\.isEnabled) == [true, false])
        #expect(options.outbox.maxUndelivered == 10)
        #expect(options.outbox.backpressureThreshold == 0.5)
        #expect(options.outbox.eviction == .priority)
        #expect(options.outbox.maxRetries == 7)
        #expect(options.outbox.cleanupInterval == .seconds(120))
        #expect(options.outbox.keepDelivered == .seconds(86_400))
        #expect(options.delivery.groupWait == .seconds(1))
        #expect(options.delivery.groupInterval == .zero)
        #expect(options.delivery.maxGroupSize == 3)
        #expect(options.delivery.locale == "en-GB")
        let anchors = SinkValue.text(folder.path + "/ca.pem")
        var kinds: [SinkOptions.Kind] = [
            .stdout, .file(path: folder.path + "/out.jsonl"),
            .webhook(
                url: "https://example.org/hook?k=v",
                secretFile: folder.path + "/hook.secret",
                timeout: .seconds(3)
            ),
            .ntfy(url: "https://ntfy.sh", topic: "my-topic", tokenFile: folder.path + "/ntfy.token"),
            .command(argv: ["/bin/notify", "-q"], timeout: .seconds(10)),
        ]
        for index in 2...3 { kinds[index]["ca_file"] = anchors }
        #expect(options.delivery.sinks.map(\.kind) == kinds)
        #expect(options.delivery.sinks.map { $0["ca_file"] } == [nil, nil, anchors, anchors, nil])
        #expect(options.acknowledge.mode == .local)
        #expect(options.acknowledge.batchSize == 50)
        #expect(options.limits.requestsPerMinute == 60)
        #expect(options.limits.acknowledgementsPerMinute == 500)
        #expect(options.limits.maxConcurrentPolls == 2)
        #expect(options.limits.cycle == .seconds(180))
        #expect(options.limits.shutdown == .seconds(5))
        #expect(options.clock.source == .ntp)
        #expect(options.clock.ntpServer == "ntp.example.org:1123")
        #expect(options.clock.checkInterval == .seconds(60))
        #expect(options.clock.maxSkew == .seconds(10))
        #expect(options.http.listen == "[::1]:0")
        #expect(options.http.allowedHosts == ["agent.internal"])
        #expect(options.control.socket == folder.path + "/run/control.sock")
        #expect(options.control.listen == "127.0.0.1:9465")
        #expect(options.control.tokenFile == folder.path + "/control.token")
        #expect(options.http.webConfigFile == folder.path + "/web.yml")
        #expect(options.control.webConfigFile == folder.path + "/web.yml")
        #expect(options.log.level == .debug)
        #expect(options.log.format == .text)
    }

    // MARK: Files

    /// What the Prometheus exporters accept and what changes nothing here is no mistake.
    @Test(arguments: ["", "http_server_config: {http2: true}\n", "http_server_config: {http2: false}\n"])
    func aWebConfigurationThatAsksForNothingIsAccepted(text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "web.yml")
        let configuration = try ConfigurationLoader(environment: [:], workingDirectory: folder.path)
            .loadWebConfiguration(file: folder.path + "/web.yml")
        #expect(configuration == WebConfiguration())
    }

    @Test func aSecretThatOthersMayReadIsRefused() throws {
        let folder = try TemporaryFolder()
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/")
        let yaml = "auth:\n  kind: shared_secret\n  secret_file: s"
        let problem = firstProblem(loader, yaml, folder.path)
        #expect(problem?.contains("there is no such file in \(folder.path);") == true)
        // It may be the secret itself that was put there.
        #expect(problem?.contains(folder.path + "/s") == false)
        try folder.write("", to: "s")
        #expect(firstProblem(loader, yaml, folder.path)?.contains("is empty") == true)
        for mode in [0o640, 0o604, 0o620] {
            try folder.write(Self.word, to: "s", mode: mode)
            #expect(firstProblem(loader, yaml, folder.path)?.contains("chmod 600") == true, "mode \(mode)")
        }
        try folder.write(Self.word, to: "s", mode: 0o400)
        #expect(firstProblem(loader, yaml, folder.path) == nil)
    }

    /// As a container runtime mounts them.
    @Test(.enabled(if: geteuid() == 0, "Only root can make files of root for another user."))
    func theAdviceForAFileOfRootIsNotToChangeIt() throws {
        let folder = try TemporaryFolder()
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/", user: 65_532)
        let yaml = "auth:\n  kind: shared_secret\n  secret_file: s"
        try folder.write(Self.word, to: "s", mode: 0o444)
        #expect(
            firstProblem(loader, yaml, folder.path)
                == "\(folder.path)/s belongs to root and can be read by other users; give it mode 0440, and the agent's group or a place in $CREDENTIALS_DIRECTORY."
        )
        try folder.write(Self.word, to: "s", mode: 0o440)
        // The test's own group stands for that of the agent.
        #expect(firstProblem(loader, yaml, folder.path) == nil)
    }

    @Test func theModeOfALinkedSecretCounts() throws {
        let folder = try TemporaryFolder()
        let target = try folder.write(Self.word, to: "open", mode: 0o644)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/s", withDestinationPath: target)
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/")
        let yaml = "auth:\n  kind: shared_secret\n  secret_file: s"
        #expect(firstProblem(loader, yaml, folder.path)?.contains("chmod 600") == true)
    }

    @Test(arguments: ["warn", "warning"])
    func aLevelHasTwoNames(level: String) throws {
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
        let yaml = "log: {level: \(level)}"
        #expect(try loader.load(text: yaml, file: "x", directory: "/nowhere").options.log.level == .warning)
        #expect(throws: Never.self) { try StarwatchTool.parseAsRoot(["logs", "--level", level]) }
    }

    @Test func aBareNameIsTakenFromTheCredentialsDirectory() throws {
        let (folder, credentials) = (try TemporaryFolder(), try TemporaryFolder())
        try credentials.write(Self.word, to: "s", mode: 0o440)
        try folder.write(Self.word, to: "t")
        let loader = ConfigurationLoader(
            environment: ["CREDENTIALS_DIRECTORY": credentials.path],
            workingDirectory: "/"
        )
        let yaml = "auth:\n  kind: shared_secret\n  secret_file: s\nsecurity: {master_key_file: t}\n"
        let options = try loader.load(text: yaml, file: "x", directory: folder.path).options
        #expect(options.auth.secretFile == credentials.path + "/s")
        #expect(options.security.masterKeyFile == folder.path + "/t")
        let full = "auth: {kind: did_key, key_file: \(credentials.path)/s}"
        #expect(firstProblem(loader, full, folder.path) == nil)
        try credentials.write(Self.word, to: "s", mode: 0o444)
        #expect(firstProblem(loader, full, folder.path)?.contains("chmod 600") == true)
        let near = "auth: {kind: did_key, key_file: ./s}"
        #expect(firstProblem(loader, near, folder.path)?.contains("no such file") == true)
    }

    @Test func aSecretOfAnotherUserIsRefusedExceptForRoot() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.word, to: "s")
        try folder.giveAway("s")
        let yaml = "auth:\n  kind: shared_secret\n  secret_file: s"
        var loader = ConfigurationLoader(environment: [:], workingDirectory: "/", user: TemporaryFolder.user)
        let problem = firstProblem(loader, yaml, folder.path)
        #expect(problem == "\(folder.path)/s belongs to another user; run chown on it to give it to the agent's user.")
        loader.user = 0
        #expect(firstProblem(loader, yaml, folder.path) == nil)
        loader.user = TemporaryFolder.stranger
        #expect(firstProblem(loader, yaml, folder.path) == nil)
    }

    // MARK: Finding and reading

    private func loadProblem(_ folder: TemporaryFolder, as user: UInt32) -> String? {
        do throws(ConfigurationFailure) {
            _ = try ConfigurationLoader(environment: [:], workingDirectory: folder.path, user: user).load(
                file: "s.yaml"
            )
            return nil
        } catch {
            #expect(error.problems.count == 1)
            return error.problems.first?.message
        }
    }

    @Test func aConfigurationOfAnotherUserIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "s.yaml", mode: 0o644)
        #expect(loadProblem(folder, as: geteuid()) == nil)
        try folder.giveAway("s.yaml")
        let file = folder.path + "/s.yaml"
        let problem = loadProblem(folder, as: TemporaryFolder.user)
        #expect(problem == "belongs to another user; run 'sudo chown \(TemporaryFolder.user) \(file)'.")
        #expect(loadProblem(folder, as: 0) == "belongs to another user; run 'chown root \(file)'.")
    }

    @Test(arguments: [
        (0o600, true), (0o640, true), (0o644, true), (0o660, false), (0o664, false), (0o602, false), (0o666, false),
    ])
    func aConfigurationThatOthersCanChangeIsRefused(mode: Int, isGood: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "s.yaml", mode: mode)
        let problem = loadProblem(folder, as: geteuid())
        #expect(problem == (isGood ? nil : "can be changed by other users; run 'chmod go-w \(file)'."))
    }

    @Test(arguments: [(0o755, true), (0o1777, true), (0o775, false), (0o777, false)])
    func aConfigurationThatOthersCanReplaceIsRefused(mode: Int, isGood: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "s.yaml")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
        let problem = loadProblem(folder, as: geteuid())
        #expect(problem == (isGood ? nil : "can be replaced by other users; run 'chmod go-w \(folder.path)'."))
    }

    /// Whoever can rename a folder above the file can put another one in its place.
    @Test(arguments: [(0o755, true), (0o1777, true), (0o775, false), (0o777, false)])
    func aConfigurationBelowAFolderThatOthersCanChangeIsRefused(mode: Int, isGood: Bool) throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/a/b",
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        try folder.write("", to: "a/b/s.yaml")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path + "/a")
        let file = folder.path + "/a/b/s.yaml"
        func problem(as user: UInt32) -> String? {
            var loader = ConfigurationLoader(environment: [:])
            loader.user = user
            do throws(ConfigurationFailure) { _ = try loader.load(file: file) } catch {
                return error.problems.first?.message
            }
            return nil
        }
        #expect(
            problem(as: geteuid())
                == (isGood ? nil : "can be replaced by other users; run 'chmod go-w \(folder.path)/a'.")
        )
        guard geteuid() == 0 else { return }
        try folder.giveAway("a")
        #expect(problem(as: 0)?.hasPrefix("is in a folder of another user;") == true)
    }

    @Test func theTargetOfALinkedConfigurationCounts() throws {
        let (folder, place) = (try TemporaryFolder(), try TemporaryFolder())
        let target = try place.write("", to: "target.yaml", mode: 0o666)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/s.yaml", withDestinationPath: target)
        #expect(loadProblem(folder, as: geteuid())?.contains("chmod go-w \(target)") == true)
        try place.write("", to: "target.yaml")
        #expect(loadProblem(folder, as: geteuid()) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place.path)
        #expect(loadProblem(folder, as: geteuid())?.contains("chmod go-w \(place.path)") == true)
    }

    @Test func aFileOfAnotherUserInTheWorkingDirectoryIsSkipped() throws {
        let folder = try TemporaryFolder()
        let system = try folder.write("", to: "system.yaml")
        try folder.write("", to: "starwatch.yaml")
        try folder.giveAway("starwatch.yaml")
        var loader = ConfigurationLoader(environment: [:], workingDirectory: folder.path, user: TemporaryFolder.user)
        #expect(loader.find(nil, systemFile: system) == system)
        #expect(loader.find(nil, systemFile: "/nowhere") == nil)
        loader.user = TemporaryFolder.stranger
        #expect(loader.find(nil, systemFile: system) == "starwatch.yaml")
    }

    @Test func theFileIsNamedOrFoundInTheUsualOrder() throws {
        let folder = try TemporaryFolder()
        let system = folder.path + "/system.yaml"
        let plain = ConfigurationLoader(environment: [:], workingDirectory: folder.path)
        #expect(plain.find(nil, systemFile: system) == nil)
        try folder.write("", to: "system.yaml")
        #expect(plain.find(nil, systemFile: system) == system)
        try folder.write("", to: "starwatch.yaml")
        #expect(plain.find(nil, systemFile: system) == "starwatch.yaml")
        let told = ConfigurationLoader(environment: ["STARWATCH_CONFIG": "e.yaml"], workingDirectory: folder.path)
        #expect(told.find(nil, systemFile: system) == "e.yaml")
        #expect(told.find("c.yaml", systemFile: system) == "c.yaml")
    }

    @Test func relativePathsStartAtTheFile() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/etc", withIntermediateDirectories: true)
        try folder.write("storage: {path: ../data/x.db}", to: "etc/s.yaml")
        let loaded = try ConfigurationLoader(environment: [:], workingDirectory: folder.path).load(file: "etc/s.yaml")
        #expect(loaded.options.storage.path == folder.path + "/data/x.db")
        #expect(loaded.options.control.socket == folder.path + "/etc/starwatch.sock")
        #expect(loaded.file == "etc/s.yaml")
    }

    @Test func filesThatCannotBeReadAreOneSentence() throws {
        let folder = try TemporaryFolder()
        let loader = ConfigurationLoader(environment: [:], workingDirectory: folder.path)
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: folder.path + "/binary.yaml"))
        try folder.write(String(repeating: "#", count: 1_048_577), to: "large.yaml")
        let expected = [("none.yaml", "there is no such file"), ("binary.yaml", "UTF-8"), ("large.yaml", "1MiB")]
        for (file, says) in expected {
            let failure = #expect(throws: ConfigurationFailure.self) { try loader.load(file: file) }
            #expect(failure?.lines.count == 1)
            #expect(failure?.lines.first?.hasPrefix("\(file): ") == true)
            #expect(failure?.lines.first?.contains(says) == true)
        }
    }

    static let everything = """
        server:
          url: http://127.0.0.1:8080/prefix
          dialect: canonical
          timeout: 1500ms
          max_response: 64KiB
          retry_attempts: 4
          user_agent: TimeSafari-DailyNotificationPlugin/1.0.0
          client_version: TimeSafari-DailyNotificationPlugin/1.0.1
          ca_file: ca.pem
          pinned_public_key: sha256//YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=
        identity: {did: "did:ethr:0x00000000000000000000000000000000000000ab"}
        auth:
          kind: token_pool
          tokens_file: ./tokens
          argv: [/bin/token, --short]
          lifetime: 90s
          refresh_before: 5s
          scope: notifications:read
        storage: {path: /var/lib/starwatch/x.db, owner: host}
        polls:
          starred_projects:
            schedule: "0 9 * * mon-fri"
            timezone: Europe/Zurich
            catch_up: none
            splay: 10s
            plan_ids: ["https://example.org/a", b]
            bootstrap: beginning
            validation: strict
            quarantine_invalid: true
          mine: {kind: offers_to_my_projects, every: 5s, stale_after: 1m, group_interval: 1m, max_group_size: 2,
            priority: -3, enabled: false}
        outbox:
          max_undelivered: 10
          backpressure_threshold: 0.5
          eviction: priority
          max_retries: 7
          cleanup_interval: 2m
          keep_delivered: 1d
        delivery:
          group_wait: 1s
          group_interval: 0s
          max_group_size: 3
          locale: en-GB
          sinks:
            - {name: terminal, kind: stdout}
            - {name: journal, kind: file, path: out.jsonl}
            - {name: hook, kind: webhook, url: "https://example.org/hook?k=v", secret_file: hook.secret, timeout: 3s,
                ca_file: ca.pem}
            - {name: phone, kind: ntfy, url: https://ntfy.sh, topic: my-topic, token_file: ntfy.token, ca_file: ca.pem}
            - {name: script, kind: command, argv: [/bin/notify, -q]}
        acknowledge: {mode: local, batch_size: 50}
        limits: {requests_per_minute: 60, acknowledgements_per_minute: 500, max_concurrent_polls: 2, cycle: 3m, shutdown: 5s}
        clock: {source: ntp, ntp_server: "ntp.example.org:1123", check_interval: 1m, max_skew: 10s}
        http: {listen: "[::1]:0", web_config_file: web.yml, allowed_hosts: [agent.internal]}
        control: {socket: run/control.sock, listen: 127.0.0.1:9465, token_file: control.token, web_config_file: web.yml}
        log: {level: debug, format: text}
        """
}
