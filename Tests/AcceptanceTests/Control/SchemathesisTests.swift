import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The control API of the built agent, asked whatever its own description allows and much that it does not.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SchemathesisTests {
    /// Path of schemathesis, as `scripts/setup` installs it. Not from `PATH`, where `st` can be a terminal.
    private static let folder = Repository.root.appending(path: ".build/schemathesis/bin")

    /// The same requests each time. Left out is the stream of events, which has no end; tests of its own read it.
    private static let arguments = [
        "--checks", "all", "--generation-deterministic", "--max-examples", "8",
        "--exclude-path", "/api/v1/notifications/events", "--no-color",
        // A reload closes the socket for a moment, as its description says.
        "--request-retries", "8", "--request-timeout", "\(longestWait.components.seconds)",
        // After ten requests without a token, 429 takes the place of the 401 that these checks want.
        "--exclude-checks", "missing_required_header,ignored_auth",
    ]

    @Test func noRequestIsAnsweredOtherwiseThanTheDescriptionSays() async throws {
        let program = try Program.find("st", in: Self.folder.path)
        try await AgentWorld.withControl { world in
            // The examples speak of row 17.
            world.mock.publish(count: 20)
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            #expect(await world.sequences(1) != [])

            let report = world.workspace.url.appending(path: "report")
            try Data().write(to: report)
            let process = Process()
            process.executableURL = program
            process.currentDirectoryURL = world.workspace.url
            process.arguments =
                [
                    "run", "http://\(world.control)/api/v1/openapi.json", "--header",
                    "Authorization: \(AgentWorld.token)",
                ]
                + Self.arguments
            process.standardOutput = try FileHandle(forWritingTo: report)
            process.standardError = process.standardOutput
            process.standardInput = FileHandle.nullDevice
            try process.start()
            let status = await eventually { process.isRunning ? nil : process.terminationStatus }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            let said = try String(contentsOf: report, encoding: .utf8)
            #expect(status == 0, "\(said)")
            // It may find nothing only because it asked nothing.
            let cases = said.firstMatch(of: /(\d+) generated/).flatMap { Int($0.1) } ?? 0
            #expect(cases > 300, "\(said)")
            #expect(said.firstMatch(of: /Tested: (\d+)/).flatMap { Int($0.1) } ?? 0 >= 19, "\(said)")
            #expect(agent.isRunning)
            #expect(try Database.booksBalance(world.workspace.path("starwatch.db")))
            #expect(await agent.stop() == 0)
        }
    }
}
