import Foundation
import MockEndorser
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
        }
        struct Entry: Decodable {
            let event: String
            let text: String
        }
        let running: Bool
        let sources: [Source]
        let restarts: [Restart]
        let entries: [Entry]
    }

    private func incident(_ world: AgentWorld) async throws -> Report {
        let result = try await starwatch("incident", "--since", "1h", "--json", "--config", world.config)
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }

    @Test func aKillACrashAnOperatorAndADamagedDatabaseAreTold() async throws {
        let world = try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = 3
        } configure: { configuration, _ in
            configuration.logLevel = "notice"
        }
        let first = try await RunningAgent(config: world.config, in: world.workspace)
        first.killNow()
        let environment = ["SWIFT_BACKTRACE": "enable=no"]
        let agent = try await RunningAgent(config: world.config, in: world.workspace, environment: environment)
        let acted = try await starwatch("server", "clear-wait", "--config", world.config)
        #expect(acted.status == 0)
        let running = try await incident(world)
        #expect(running.running)
        #expect(running.restarts.map(\.cause) == ["killed"])
        let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
        #expect(
            running.entries.last { $0.event == "operator.action" }?.text
                == "actor=socket:\(user) result=ok verb=server.clear-wait"
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
        #expect(journal.output.contains("socket:\(user)"), "\(journal.errors)")
        #expect(journal.output.contains("command:\(user)"), "\(journal.output)")

        let database = world.workspace.path("starwatch.db")
        try Data(repeating: 7, count: 65_536).write(to: URL(filePath: database))
        let alone = try await incident(world)
        #expect(alone.sources.map(\.read) == [true, false])
        #expect(alone.entries.contains { $0.event == "operator.action" })
        let text = try await starwatch("incident", "--database", database)
        #expect(text.output.contains("This is the black box alone"))
        #expect(text.status == 0)
        try FileManager.default.removeItem(atPath: database + ".blackbox")
        let nothing = try await starwatch("incident", "--config", world.config)
        #expect(nothing.status == 1)
        #expect(nothing.errors.contains("Neither the black box nor the database"))
        try await world.mock.stop()
    }
}
