import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct ConfigurationWarningTests {
    /// The warnings about a file.
    ///
    /// - Parameter isOfSeed: Whether those about the DID and the plans of an empty database are included.
    private func warnings(
        _ yaml: String,
        isOfSeed: Bool = false,
        _ change: (inout OptionWarning.Facts) -> Void = { _ in }
    ) throws -> [String] {
        let loaded = try ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
            .load(text: yaml, file: "file", directory: "/nowhere")
        var facts = OptionWarning.Facts()
        change(&facts)
        return loaded.lines(of: OptionWarning.all(in: loaded.options, facts).filter { isOfSeed || !$0.isOfSeed })
    }

    @Test(arguments: ["", "# nothing\n", "polls:\n"])
    func anEmptyFileIsAWarning(yaml: String) throws {
        let lines = try warnings(yaml)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file: warning: sets nothing: without an identity") == true)
    }

    @Test func aSensibleFileHasNoWarning() throws {
        let yaml = """
            identity: {did: "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"}
            polls:
              starred_projects:
                plan_ids: ["https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"]
              quick: {kind: starred_projects, every: 1m}
            """
        #expect(try warnings(yaml) { $0.keyDID = DID("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74") } == [])
    }

    @Test func aTokenOrAPasswordInClearTextOnANetworkIsAWarning() throws {
        var options = AgentOptions()
        func paths(_ change: (inout OptionWarning.Facts) -> Void = { _ in }) -> [String] {
            var facts = OptionWarning.Facts()
            change(&facts)
            return OptionWarning.all(in: options, facts).filter { $0.message.contains("clear text") }.map(\.path)
        }
        options.control.tokenFile = "token"
        options.control.listen = "127.0.0.1:9465"
        #expect(paths { $0.passwordPorts = [.http] } == [])
        options.http.listen = "192.0.2.1:9464"
        options.control.listen = "[2001:db8::1]:9465"
        #expect(paths() == ["control.listen"])
        #expect(paths { $0.passwordPorts = [.http] } == ["http.listen", "control.listen"])
        #expect(paths { ($0.passwordPorts, $0.encryptedPorts) = ([.http], [.http, .control]) } == [])
    }

    @Test func aTokenOfTheFeedForManyAccountsIsAWarning() throws {
        var options = AgentOptions()
        options.control.feedTokenFile = "feed.token"
        func paths() -> [String] {
            OptionWarning.all(in: options, .init()).filter { $0.message.contains("opens no feed") }.map(\.path)
        }
        #expect(paths() == [])
        options.accounts = .many
        #expect(paths() == ["control.feed_token_file"])
    }

    @Test func aPollOfOffersWithoutTokensIsAWarning() throws {
        let lines = try warnings("polls:\n  mine:\n    kind: offers_to_me\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file:3: polls.mine.kind: warning: offers_to_me needs a token") == true)
        #expect(try warnings("polls:\n  offers_to_me: {stale_after: 2h}\n").count == 1)
    }

    @Test func aDIDInAnotherCaseThanItsKeysIsAWarningThatDoesNotNameIt() throws {
        let yaml = "identity:\n  did: \"did:ethr:0xf3beac30c498d9e26865f34fcaa57dbb935b0d74\"\n"
        let lines = try warnings(yaml) { $0.keyDID = DID("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74") }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file:2: identity.did: warning: differs in upper and lower case") == true)
        #expect(lines.first?.contains("0xf3") == false)
        #expect(try warnings(yaml) == [])
    }

    @Test func aPlanIDThatCannotExistIsAWarningThatNamesItsPlace() throws {
        let yaml = """
            polls:
              starred_projects:
                plan_ids: ["https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37", "garden fence"]
            """
        let lines = try warnings(yaml)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file:3: polls.starred_projects.plan_ids: warning: no plan can") == true)
        #expect(lines.first?.contains("of item 2") == true)
        #expect(lines.first?.contains("garden") == false)
    }

    @Test func moreConcurrentPollsThanTheOpenFilesAllowAreAWarning() throws {
        let yaml = "limits:\n  max_concurrent_polls: 300\n"
        let lines = try warnings(yaml) { $0.openFiles = 1024 }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file:2: limits.max_concurrent_polls: warning: is more than a quarter") == true)
        // The command judges its own limit, which is not that of a service.
        #expect(lines.first?.contains("that this command may have open") == true)
        #expect(lines.first?.contains("limit of its unit instead") == true)
        #expect(try warnings(yaml) { $0.openFiles = 1200 }.isEmpty)
    }

    @Test func aDatabaseFolderThatDoesNotExistIsAWarning() throws {
        let lines = try warnings("storage:\n  path: data/starwatch.db\n") { $0.hasStorageFolder = false }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file:2: storage.path: warning: is in a folder that does not exist") == true)
    }

    @Test(arguments: [true, false])
    func aStartWithoutADIDOrPlansIsAWarning(hasKey: Bool) throws {
        let lines = try warnings("log: {level: info}\n", isOfSeed: true) { facts in
            if hasKey { facts.keyDID = DID("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74") }
        }
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix("file: identity.did: warning: is not set, so the agent would start signed") == true
        )
        #expect(lines.first?.hasSuffix("write the DID of auth.key_file.") == hasKey)
        #expect(lines.last?.hasPrefix("file: polls.starred_projects.plan_ids: warning: names no plan") == true)
        let offers = "polls:\n  offers_to_me: {}\nauth: {kind: command, argv: [token]}\n"
        #expect(try warnings(offers, isOfSeed: true).count == 1)
    }

    @Test func aStaleLimitBelowTheScheduleIsAWarning() throws {
        let yaml = "polls:\n  starred_projects:\n    schedule: \"0 6 * * *\"\n    stale_after: 4h\n"
        let gaps = { (facts: inout OptionWarning.Facts) in
            facts.longestGaps[PollName("starred_projects")!] = .seconds(86_400)
        }
        let lines = try warnings(yaml, gaps)
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix("file:4: polls.starred_projects.stale_after: warning: is not longer than") == true
        )
        #expect(try warnings(yaml.replacing("4h", with: "25h"), gaps) == [])
        #expect(try warnings("polls:\n  starred_projects:\n    schedule: \"0 6 * * *\"\n", gaps) == [])
    }

    @Test(arguments: ["0.0.0.0:9464", ":9464", "[::]:9464"])
    func listeningOnEveryAddressIsAWarning(address: String) throws {
        let lines = try warnings("http:\n  listen: \"\(address)\"\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file:2: http.listen: warning: listens on every address") == true)
        #expect(try warnings("http:\n  listen: \"192.168.1.2:9464\"\n") == [])
    }

    @Test func aShortIntervalIsAWarning() throws {
        let lines = try warnings("polls:\n  starred_projects:\n    every: 5s\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("file:3: polls.starred_projects.every: warning: is short") == true)
    }

    @Test(arguments: [("every: 5s", 100, true), ("every: 30s", 100, false), ("every: 2s", 5000, false)])
    func anIntervalIsShortAgainstTheLimit(timing: String, limit: Int, isShort: Bool) throws {
        let yaml = "limits: {requests_per_minute: \(limit)}\npolls:\n  starred_projects:\n    \(timing)\n"
        #expect(try warnings(yaml).isEmpty != isShort)
    }

    @Test func aSplayBeyondTheScheduleIsAWarning() throws {
        let yaml = "polls:\n  starred_projects:\n    every: 10m\n    splay: 11m\n"
        let lines = try warnings(yaml)
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix("file:4: polls.starred_projects.splay: warning: is longer than the time") == true
        )
        #expect(try warnings(yaml.replacing("11m", with: "10m")) == [])
        let cron = "polls:\n  starred_projects:\n    schedule: \"*/15 * * * *\"\n    splay: 1h\n"
        let gaps = { (facts: inout OptionWarning.Facts) in
            facts.longestGaps = [PollName("starred_projects")!: .seconds(900)]
        }
        #expect(try warnings(cron, gaps).count == 1)
        #expect(try warnings(cron.replacing("1h", with: "15m"), gaps) == [])
    }

    @Test(arguments: [("0 8 1 * 1", true), ("0 8 1 * *", false), ("0 8 * * 1", false), ("0 8 */2 * 1", false)])
    func aScheduleByBothDaysIsAWarning(schedule: String, isWarned: Bool) throws {
        let lines = try warnings("polls:\n  starred_projects:\n    schedule: \"\(schedule)\"\n")
        #expect(lines.count == (isWarned ? 1 : 0))
        if isWarned { #expect(lines[0].contains("schedule: warning: has a day of the month and a day of the week")) }
    }

    @Test func warningsAreShownTogetherWithErrorsUnlessAnErrorCanExplainThem() async throws {
        func warnings(_ yaml: String) async throws -> [String] {
            let error = #expect(throws: ConfigurationFailure.self) {
                try ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
                    .load(text: yaml, file: "file", directory: "/nowhere")
            }
            return await error?.furtherWarnings.map(\.path) ?? ["-"]
        }
        let known = """
            identity: {did: "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"}
            storage: {path: /tmp/starwatch.db}
            polls:
              starred_projects: {plan_ids: ["https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"]}
              mine: {kind: offers_to_me, every: 2s}

            """
        #expect(try await warnings(known + "outbox: {max_retries: 0}\n") == ["polls.mine.kind", "polls.mine.every"])
        #expect(try await warnings(known + "auth: {kind: did_kye}\n") == [])
        #expect(try await warnings(known.replacing("every", with: "evry")) == [])
        #expect(try await warnings("polls: [1]\n") == [])
    }

    @Test func warningsLeaveTheExitCodeUnlessStrict() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "starwatch.yaml")
        #expect(await StarwatchTool.run(["check", "--config", file]).exitCode == .good)
        #expect(await StarwatchTool.run(["check", "--config", file, "--strict"]).exitCode == .failed)
        let complete = """
            identity: {did: "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"}
            polls:
              starred_projects: {plan_ids: ["https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"]}
            http: {listen: "127.0.0.1:0"}

            """
        let good = try folder.write(complete, to: "good.yaml")
        #expect(await StarwatchTool.run(["check", "--config", good, "--strict"]).exitCode == .good)
        let gone = try folder.write(complete + "storage: {path: none/starwatch.db}\n", to: "gone.yaml")
        #expect(await StarwatchTool.run(["check", "--config", gone, "--strict"]).exitCode == .failed)
        let key = try folder.write("278a5de700e29faae8e40e366ec5012b5ec63d36ec77e8a2417154cc1d25383f", to: "key")
        for (did, code) in [
            ("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74", CommandExitCode.good),
            ("did:ethr:0xf3beac30c498d9e26865f34fcaa57dbb935b0d74", .failed),
        ] {
            let yaml =
                complete.replacing("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74", with: did)
                + "auth: {kind: did_key, key_file: \"\(key)\"}\n"
            let file = try folder.write(yaml, to: "did.yaml")
            #expect(await StarwatchTool.run(["check", "--config", file, "--strict"]).exitCode == code)
        }
    }

    @Test func aSinkCanBeOptionalAndGivenUpButNotEverySink() throws {
        func load(_ yaml: String) throws -> LoadedConfiguration {
            try ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
                .load(text: yaml, file: "file", directory: "/nowhere")
        }
        let optional = "    - {name: hook, kind: log, required: false, give_up_after: 2h}\n"
        let loaded = try load("delivery:\n  sinks:\n    - {name: log, kind: log}\n" + optional)
        let sinks = loaded.options.delivery.sinks
        #expect(sinks.map(\.isRequired) == [true, false])
        #expect(sinks.map(\.giveUpAfter) == [nil, .seconds(7200)])
        #expect(ConfigurationPrinter.yaml(loaded).contains("give_up_after: 2h"))
        let error = #expect(throws: ConfigurationFailure.self) { try load("delivery:\n  sinks:\n" + optional) }
        #expect(error?.lines.first?.contains("must have a sink that is required") == true)
    }
}
