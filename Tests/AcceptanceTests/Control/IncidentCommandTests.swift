import Foundation
import MockEndorser
import Starwatch
import Testing

/// `incident` and `journal` of the built agent, after a kill, after a crash, and with a damaged database.
@Suite(.timeLimit(.minutes(5))) struct IncidentCommandTests {
    private struct Report: Decodable {
        struct Source: Decodable {
            let name: String
            let read: Bool
            let problem: String?
        }
        struct Restart: Decodable {
            let cause: String
            let after: String?
            let before: String?
        }
        struct Entry: Decodable {
            let event: String
            let text: String
        }
        let running: Bool
        let sources: [Source]
        let restarts: [Restart]
        let lastSign: String?
        let entries: [Entry]
    }

    private func incident(_ world: AgentWorld) async throws -> Report {
        let result = try await starwatch("incident", "--since", "1h", "--json", "--config", world.config)
        #expect(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Report.self, from: Data(result.output.utf8))
    }

    @Test func aKillACrashAnOperatorAndADamagedDatabaseAreTold() async throws {
        let world = try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = 3
        } configure: { configuration, _ in
            configuration.logLevel = "notice"
        }
        let first = try await RunningAgent(config: world.config, in: world.workspace)
        await first.killNow()
        let environment = ["SWIFT_BACKTRACE": "enable=no"]
        let agent = try await RunningAgent(config: world.config, in: world.workspace, environment: environment)
        let acted = try await starwatch("server", "clear-wait", "--config", world.config)
        #expect(acted.status == 0)
        let running = try await incident(world)
        #expect(running.running)
        #expect(running.restarts.map(\.cause) == ["killed"])
        // The kill was before the start that shows it.
        let (after, before) = (try #require(running.restarts[0].after), try #require(running.restarts[0].before))
        #expect(after < before)
        let page = try await starwatch("incident", "--since", "1h", "--config", world.config)
        #expect(page.output.contains(/the last between [0-9:]{8} and [0-9:]{8}: it was killed/), "\(page.output)")
        let status = try await starwatch("status", "--config", world.config)
        #expect(status.output.contains(/the last between .+ and .+: it was killed/), "\(status.output)")
        // Of a user without a name too.
        let actor = Operator.user(geteuid(), by: .socket).text
        #expect(
            running.entries.last { $0.event == "operator.action" }?.text
                == "actor=\(actor) result=ok verb=server.clear-wait"
        )

        kill(agent.pid, SIGSEGV)
        _ = await eventually { agent.isRunning ? nil : true }
        #expect(!agent.isRunning)
        let gone = try await incident(world)
        #expect(!gone.running)
        #expect(gone.restarts.map(\.cause) == ["killed", "crashed"])
        #expect(gone.sources.map(\.read) == [true, true])
        // Without an agent, a command acts and notes itself.
        _ = try await starwatch("server", "clear-wait", "--config", world.config)
        let journal = try await starwatch("journal", "--config", world.config)
        #expect(journal.output.contains(Operator.user(geteuid(), by: .socket).text), "\(journal.errors)")
        #expect(journal.output.contains(Operator.user(geteuid(), by: .command).text), "\(journal.output)")

        let database = world.workspace.path("starwatch.db")
        try Data(repeating: 7, count: 65_536).write(to: URL(filePath: database))
        let alone = try await incident(world)
        #expect(alone.sources.map(\.read) == [true, false])
        #expect(alone.entries.contains { $0.event == "operator.action" })
        // The operation failed; its usage was right.
        for command in [["logs"], ["journal"], ["outbox", "list"]] {
            let failed = try await starwatch(command + ["--config", world.config])
            #expect(failed.status == 1, "\(command): \(failed.errors)")
        }
        let text = try await starwatch("incident", "--database", database)
        #expect(text.output.contains("This is the black box alone"))
        #expect(text.status == 0)
        try FileManager.default.removeItem(atPath: database + ".blackbox")
        let nothing = try await starwatch("incident", "--config", world.config)
        #expect(nothing.status == 1)
        #expect(nothing.errors.contains("Neither the black box nor the database"))
        try await world.mock.stop()
    }

    @Test func anAgentThatIsStoppedDoesNotAnswer() async throws {
        let world = try await AgentWorld()
        let agent = try await world.start()
        // An agent that has just started can take longer than the command waits.
        let answers = try await eventually { try await incident(world).lastSign == nil ? true : nil }
        #expect(answers == true)
        kill(agent.pid, SIGSTOP)
        defer { kill(agent.pid, SIGCONT) }
        #expect(try await incident(world).lastSign != nil)
        let page = try await starwatch("incident", "--config", world.config)
        #expect(page.output.contains("running, but it does not answer; last sign of life"), "\(page.output)")
        try await world.mock.stop()
    }

    @Test func aBrokenConfigurationKeepsNoStoryBack() async throws {
        let world = try await AgentWorld()
        let run = world.workspace.path("run")
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: run)
        let environment = ["RUNTIME_DIRECTORY": run]
        let agent = try await RunningAgent(config: world.config, in: world.workspace, environment: environment)
        try world.workspace.write("broken: 1\n", to: "starwatch.yaml")
        func tell(_ command: String...) async throws -> CommandResult {
            try await starwatch(command + ["--config", world.config], environment: environment)
        }
        for command in ["incident", "journal"] {
            let result = try await tell(command)
            #expect(result.status == 0, "\(command): \(result.errors)")
            #expect(result.errors.contains("broken: error"))
        }
        await agent.killNow()
        let gone = try await tell("incident")
        #expect(gone.status == 0 && gone.output.contains("not running"), "\(gone)")
        let journal = try await tell("journal")
        #expect(journal.status == 2 && journal.errors.contains("--database"), "\(journal.errors)")
        #expect(try await tell("journal", "--database", world.database).status == 0)
        try FileManager.default.removeItem(atPath: run)
        let lost = try await tell("incident")
        #expect(lost.status == 2 && lost.errors.contains("--database"), "\(lost.errors)")
        #expect(try await tell("incident", "--database", world.database).status == 0)
        try await world.mock.stop()
    }
}
