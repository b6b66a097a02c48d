import Foundation
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchCommand

@Suite struct FindingTests {
    private let now = Timestamp(iso8601: "2026-01-01T12:00:00Z")!

    private func status(started: String = "2026-01-01T09:00:00Z") -> AgentStatus {
        AgentStatus(version: AgentVersion.current, startedAt: Timestamp(iso8601: started)!, now: now)
    }

    private func trial(_ outcome: String, _ reason: FailureReason? = nil) -> Trial.Polls {
        var status = status()
        status.server.dialect = .endorser
        var trial = Trial.Polls(status: status)
        trial.reports = [PollReport(poll: "p", outcome: outcome, runID: "run")]
        trial.reports[0].cause = reason?.description
        return trial
    }

    /// A trial without the token, which asks no poll.
    private func reach(_ reach: Reach) -> Trial.Polls {
        var trial = trial("skipped", FailureReason(.noToken))
        trial.reach = reach
        return trial
    }

    private func states(_ trial: Trial.Polls, auth: AuthOptions.Kind = .didKey) -> [String] {
        var options = AgentOptions()
        options.auth.kind = auth
        return ServerFindings(trial: trial, options: options).all
            .map { "\($0.area) \($0.state.rawValue)" }
    }

    /// Many sinks accept POST alone.
    @Test(arguments: [(200, Finding.State.ok), (204, .ok), (404, .skipped), (405, .skipped), (501, .skipped)])
    func aSinkThatRefusesAGetIsNeitherAProblemNorHealthy(status: Int, state: Finding.State) {
        let finding = Doctor.finding("sink hook", status: status, "'starwatch sinks test hook' delivers to it.")
        #expect(finding.state == state)
        #expect(finding.text.contains("HTTP \(status)") && finding.text.contains("starwatch sinks test hook"))
    }

    @Test func aDamagedDatabaseIsAProblemThatSaysWhatToDo() {
        let finding = Finding.database(.failed("the database file is damaged: restore a backup"))
        #expect(finding.state == .problem)
        #expect(finding.text == "The database file is damaged: restore a backup.")
        #expect(Finding.database(.sound).state == .ok)
        #expect(Finding.database(.older).state == .ok)
        #expect(Finding.database(.absent).state == .skipped)
    }

    @Test func aLockedDatabaseIsOneProblemAndNotASoundDatabaseBesides() {
        let lock = Finding.database(.sound, lockedBy: "sqlite3, pid 12")
        #expect(lock.state == .problem)
        #expect(lock.text.hasPrefix("Another program holds a lock on the database: sqlite3, pid 12. End its "))
        #expect(Finding.database(.absent, lockedBy: "sqlite3, pid 12").state == .skipped)
    }

    /// Only the meaning helps who runs the command already.
    @Test func aProblemWhoseNextCommandIsDoctorSaysWhatToDo() {
        var status = status()
        status.take([Problem(.storeBusy, "another program locks the database")], headline: nil)
        let finding = AgentFindings(status: status, options: AgentOptions()).agent.last
        #expect(finding?.text.hasPrefix("Another program locks the database. Another program locks") == false)
        #expect(finding?.text.contains("End that program") == true)
        #expect(finding?.text.contains("starwatch doctor") == false)
    }

    @Test func certificatesHaveTheirDatesAndAreNotToldTwice() {
        var status = status()
        status.certificates = [
            "server": "2026-03-01T12:00:00.000Z", "port:http": "2026-01-05T12:00:00.000Z",
            "hook": "2025-12-31T12:00:00.000Z",
        ]
        status.take([Certificate(of: .sink("hook"), expiry: now - .seconds(86_400)).problem(now: now)!], headline: nil)
        let findings = AgentFindings(status: status, options: AgentOptions())
        #expect(
            findings.certificates == [
                Finding(
                    "certificate hook",
                    .warning,
                    "It expired 1 d ago, on 2025-12-31. Renew it, or tell its operator."
                ),
                Finding(
                    "certificate port:http",
                    .warning,
                    "It expires in 4 d, on 2026-01-05. Renew it, or tell its operator."
                ),
                Finding("certificate server", .ok, "It expires in 59 d, on 2026-03-01."),
            ]
        )
        #expect(findings.agent.map(\.area) == ["agent"])
        var trial = trial("unchanged")
        trial.status.certificates = status.certificates
        var options = AgentOptions()
        options.server.url = "https://api.example"
        let tls = ServerFindings(trial: trial, options: options).all.first { $0.area == "tls" }
        #expect(tls?.text == "The certificate is valid until 2026-03-01.")
    }

    @Test func theStepThatFailedIsTheProblemAndLaterStepsAreSkipped() {
        let dns = ["dns problem", "connection skipped", "tls skipped", "server skipped"]
        #expect(states(trial("failed", FailureReason(.dns))) == dns)
        let timeout = ["dns ok", "connection problem", "tls skipped", "server skipped"]
        #expect(states(trial("failed", FailureReason(.timeout))) == timeout)
        let tls = ["dns ok", "connection ok", "tls problem", "server skipped"]
        #expect(states(trial("failed", FailureReason(.tls))) == tls)
        #expect(states(trial("failed", FailureReason(.certificateExpired))) == tls)
    }

    @Test func aRefusedTokenIsAProblemUnlessOnlyTheServiceHasIt() {
        let refused = trial("failed", FailureReason(status: 401))
        #expect(states(refused).suffix(2) == ["token problem", "poll p problem"])
        let elsewhere = reach(.answered(status: 404))
        #expect(
            states(elsewhere) == [
                "dns ok", "connection ok", "tls ok", "server ok", "token skipped", "poll p skipped",
            ]
        )
        let unreached = reach(.failed(SinkFailure("It cannot be reached.", .connect)))
        #expect(states(unreached) == states(trial("failed", FailureReason(.connect))))
        #expect(states(trial("unchanged"), auth: .none).suffix(2) == ["token ok", "poll p ok"])
    }

    /// Its server is none of Endorser, and another one than that of the next list.
    @Test func aListIsJudgedByItsPollAlone() {
        var options = AgentOptions()
        options.polls = [PollOptions(name: PollName("p")!, kind: .json)]
        func findings(_ trial: Trial.Polls) -> [String] {
            ServerFindings(trial: trial, options: options).all.map { "\($0.area) \($0.state.rawValue): \($0.text)" }
        }
        #expect(findings(trial("unchanged")) == ["poll p ok: The server answered with 0 items."])
        #expect(
            findings(trial("failed", FailureReason(status: 401))) == [
                "poll p problem: It failed (HTTP 401); 'starwatch poll try p' says more."
            ]
        )
    }

    @Test func theRunningAgentsTokenCountsWhereTheTrialHasNone() {
        var options = AgentOptions()
        options.auth.kind = .sharedSecret
        options.auth.storedKeys = true
        func findings(_ trial: Trial.Polls, _ own: PollReport?) -> [Finding] {
            let own = own.map { ["p": $0] } ?? [:]
            return ServerFindings(trial: trial, options: options, own: own).all.suffix(2)
        }
        let reached = reach(.answered(status: 200))
        let refused = trial("failed", FailureReason(status: 401)).reports[0]
        let ok = PollReport(poll: "p", outcome: "unchanged", runID: "run")
        #expect(findings(reached, ok).map(\.state) == [.ok, .ok])
        #expect(findings(reached, ok)[0].text == "The server did not reject the agent's token (shared_secret).")
        #expect(findings(reached, refused).map(\.state) == [.problem, .problem])
        #expect(findings(reached, nil)[0].text.contains("Only the running agent has the key"))
    }

    @Test func aServerErrorIsTheProblemOfThePoll() {
        let failed = states(trial("failed", FailureReason(status: 500)))
        #expect(failed == ["dns ok", "connection ok", "tls ok", "server ok", "poll p problem"])
    }

    @Test func aPollThatIsSkippedAsksNobody() {
        var skipped = trial("skipped")
        skipped.reports[0].reason = SkipReason.noStars.rawValue
        #expect(states(skipped) == ["server warning"])
    }

    @Test func aClockThatIsOffByMoreThanTheLimitIsAProblem() {
        var trial = trial("unchanged")
        trial.status.clock.skewSeconds = -31
        #expect(states(trial).contains("clock problem"))
        trial.status.clock.skewSeconds = 29
        #expect(states(trial).contains("clock ok"))
    }

    @Test func scrapesAreExpectedFiveMinutesAfterTheStart() {
        func state(_ status: AgentStatus) -> Finding.State {
            AgentFindings(status: status, options: AgentOptions()).scraping.state
        }
        var status = status()
        #expect(state(status) == .warning)
        #expect(state(self.status(started: "2026-01-01T11:59:00Z")) == .skipped)
        status.lastScrape = "2026-01-01T11:59:45Z"
        #expect(state(status) == .ok)
        status.lastScrape = "2026-01-01T11:50:00Z"
        #expect(state(status) == .warning)
    }

    @Test func aSinkThatTheAgentCannotReachIsAProblem() {
        var status = status()
        status.outbox.sinks = ["a": "closed", "b": "open", "c": "rejecting", "d": "disabled"]
        status.outbox.sinkReasons = ["b": "connect"]
        let findings = AgentFindings(status: status, options: AgentOptions())
        #expect(findings.sink("a") == nil)
        #expect(
            findings.sink("b")?.text == "The agent's attempts fail (connection failed); see 'starwatch sinks test b'."
        )
        #expect(["b", "c", "d", "new"].allSatisfy { findings.sink($0)?.state == .problem })
    }

    @Test func anAgentOfAnotherVersionIsAWarning() {
        var status = status()
        status.version = "0.0.1"
        #expect(AgentFindings(status: status, options: AgentOptions()).agent.first?.state == .warning)
    }

    @Test func filesThatOthersCanUseAreProblems() {
        var files = InstalledFiles()
        files.folder = .init(path: "/f", mode: 0o700, owner: 7)
        files.database = .init(path: "/f/d", mode: 0o600, owner: 7)
        files.socket = .init(path: "/s", mode: 0o600, owner: 7)
        #expect(files.findings.map(\.state) == [.ok])
        for change in [
            \InstalledFiles.folder!.mode, \.database!.mode, \.socket!.mode,
        ] {
            var changed = files
            changed[keyPath: change] |= 0o022
            #expect(changed.findings.map(\.state) == [.problem])
        }
        files.database?.owner = 0
        #expect(files.findings.map(\.text) == ["/f/d belongs to user 0, and the agent is user 7; run chown on it."])
    }

    /// Root can read it.
    @Test(.enabled(if: geteuid() == 0)) func filesThatTheAgentsUserCannotReadAreProblemsOfTheirSettings() throws {
        let folder = try TemporaryFolder()
        var options = AgentOptions()
        options.auth.keyFile = try folder.write("k", to: "key", mode: 0o600)
        options.security.masterKeyFile = try folder.write("m", to: "master.key", mode: 0o600)
        options.storage.path = folder.path + "/d"
        func problems() -> [String] {
            AgentView(options: options, user: ServiceUser(id: 65_534, group: 65_534)).problems.map(\.path)
        }
        // Nor can the user enter the folder.
        #expect(chmod(folder.path, 0o700) == 0)
        #expect(problems() == ["auth.key_file", "security.master_key_file", "storage.path"])
        #expect(chown(options.auth.keyFile!, 65_534, 65_534) == 0)
        #expect(problems() == ["auth.key_file", "security.master_key_file", "storage.path"])
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(problems() == ["security.master_key_file"])
        #expect(chown(options.security.masterKeyFile!, 65_534, 65_534) == 0)
        #expect(problems() == [])
        #expect(AgentView(options: options, user: nil).problems.isEmpty)
    }

    @Test func theReportCountsProblems() {
        let report = DoctorReport(findings: [
            Finding("dns", .ok, "a resolves."), Finding("sink hook", .problem, "It is down."),
        ])
        #expect(
            report.text == """
                ok       dns        a resolves.
                problem  sink hook  It is down.

                1 problem, 0 warnings, 0 skipped checks.
                """
        )
        #expect(report.hasProblems)
    }
}
