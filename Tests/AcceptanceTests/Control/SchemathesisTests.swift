import Foundation
import MockEndorser
import Testing

/// The control API of the built agent, asked whatever its own description allows and much that it does not.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SchemathesisTests {
    /// Where `scripts/setup` puts it. Not from `PATH`, where `st` may be a terminal.
    private static let folder = Repository.root.appending(path: ".build/schemathesis/bin")

    /// The same requests each time. Left out is the stream of events, which has no end; tests of its own read it.
    private static let arguments = [
        "--checks", "all", "--generation-deterministic", "--max-examples", "8",
        "--exclude-path", "/api/v1/notifications/events", "--no-color",
        // A reload closes the socket for a moment, as its description says.
        "--request-retries", "8",
    ]

    @Test func noRequestIsAnsweredOtherwiseThanTheDescriptionSays() async throws {
        let program = try Program.find("st", in: Self.folder.path)
        var options = MockServerOptions()
        options.dialect = .endorser
        options.planCount = 3
        options.requestsPerMinute = nil
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        let control = "127.0.0.1:\(try FreePort.take())"
        try workspace.write("a-token\n", to: "token")
        var configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            every: "1h",
            sinks: "    - name: feed\n      kind: feed"
        )
        configuration.control = "listen: \(control)\n  token_file: \(workspace.path("token"))"
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        // The examples speak of row 17.
        mock.publish(count: 20)
        let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        let pages = AgentPages(address: control)
        let headers = ["Authorization": "Bearer a-token"]
        let arrived = await eventually {
            try? await pages.get("/api/v1/notifications", headers: headers).contains("\"sequence\":1") ? true : nil
        }
        #expect(arrived == true)

        let report = workspace.url.appending(path: "report")
        try Data().write(to: report)
        let process = Process()
        process.executableURL = program
        process.currentDirectoryURL = workspace.url
        process.arguments =
            ["run", "http://\(control)/api/v1/openapi.json", "--header", "Authorization: Bearer a-token"]
            + Self.arguments
        process.standardOutput = try FileHandle(forWritingTo: report)
        process.standardError = process.standardOutput
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let status = await eventually(within: .seconds(240)) { process.isRunning ? nil : process.terminationStatus }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        let said = try String(contentsOf: report, encoding: .utf8)
        #expect(status == 0, "\(said)")
        // It may find nothing only because it asked nothing.
        let cases = said.firstMatch(of: /(\d+) generated/).flatMap { Int($0.1) } ?? 0
        #expect(cases > 300, "\(said)")
        #expect(said.firstMatch(of: /Tested: (\d+)/).flatMap { Int($0.1) } ?? 0 >= 19, "\(said)")
        #expect(agent.isRunning)
        #expect(try Database.booksBalance(workspace.path("starwatch.db")))
        #expect(agent.stop() == 0)
        try await mock.stop()
    }
}
