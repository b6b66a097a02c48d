import Foundation
import MockEndorser
import Testing

/// Bad input gets one clear sentence, the right exit code, and loses nothing.
@Suite struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let yaml: String
        let says: [String]
        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "an unknown key",
            yaml: "polls:\n  starred_projects:\n    kind: starred_projects\n    shedule: x\n",
            says: ["4", "shedule", "schedule"]
        ),
        Case(name: "a bad duration", yaml: "server:\n  timeout: soon\n", says: ["2", "timeout"]),
        Case(
            name: "a bad cron expression",
            yaml: "polls:\n  starred_projects:\n    kind: starred_projects\n    schedule: \"61 * * * *\"\n",
            says: ["4", "minute"]
        ),
        Case(
            name: "a missing secret file",
            yaml: "auth:\n  kind: shared_secret\n  secret_file: nowhere\n",
            says: ["3", "secret_file"]
        ),
    ]

    @Test(arguments: cases)
    func configurationErrorsAreOneSentenceWithTheLineAndExitCodeTwo(bad: Case) async throws {
        let workspace = try Workspace()
        try workspace.write(bad.yaml, to: "starwatch.yaml")
        for command in ["check", "run"] {
            let result = try await starwatch(command, "--config", workspace.path("starwatch.yaml"))
            #expect(result.status == 2, "\(command): \(result.errors)")
            for word in bad.says { #expect(result.errors.contains(word), "\(command) says: \(result.errors)") }
            let lines = result.errors.split(separator: "\n")
            #expect(lines.count { !$0.contains(": warning: ") } == 1, "\(result.errors)")
        }
    }

    @Test func aDatabaseOfANewerVersionIsRefusedAndUntouched() async throws {
        let workspace = try Workspace()
        try workspace.write("storage:\n  path: \(workspace.path("new.db"))\n", to: "starwatch.yaml")
        try Database.create(workspace.path("new.db"), version: 9_999)
        let before = try Data(contentsOf: workspace.url.appending(path: "new.db"))
        let result = try await starwatch("run", "--config", workspace.path("starwatch.yaml"))
        #expect(result.status == 2)
        #expect(result.errors.contains("newer"), "\(result.errors)")
        #expect(try Data(contentsOf: workspace.url.appending(path: "new.db")) == before)
    }

    @Test func withoutAnAgentStatusExitsThree() async throws {
        let workspace = try Workspace()
        let result = try await starwatch("status", "--socket", workspace.path("none.sock"))
        #expect(result.status == 3)
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func anUnreachableServerFailsTheCycleAndTheNextOneGoesOn() async throws {
        var options = MockServerOptions()
        options.requestsPerMinute = nil
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        let configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: TestConfiguration.webhook(mock.url)
        )
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        mock.setStickyFault(.resetBeforeHead, at: .plansChanged)
        let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        let pages = agent.pages
        let failed = await eventually {
            (try? await pages.metric("starwatch_poll_failure_total{poll=\"starred_projects\"}")) ?? 0 > 0 ? true : nil
        }
        #expect(failed == true)
        mock.setStickyFault(.malformedJSON, at: .plansChanged)
        let malformed = await eventually {
            (try? await pages.metric("starwatch_contract_violations_total{poll=\"starred_projects\",kind=\"schema\"}"))
                ?? 0 > 0 ? true : nil
        }
        #expect(malformed == true)
        mock.clearFaults()
        mock.publish(mock.plans.prefix(3).map { MockChange(planID: $0.id) })
        let arrived = await eventually {
            mock.receivedNotifications.flatMap(\.jwtIDs).count == 3 ? true : nil
        }
        #expect(arrived == true)
        #expect(await agent.stop() == 0)
        try await mock.stop()
    }
}
