import Foundation
import MockEndorser
import Testing

/// Tests with a hanging resolver.
@Suite struct LookupTests {
    /// Polls that run at once; each asks three times and gives up after a second.
    private static let polls = 16

    @Test func hangingLookupsAreLimitedTo16AndResumeAfterwards() async throws {
        let (mock, workspace) = (MockServer(), try Workspace())
        try await mock.start()
        let polls = (0..<Self.polls).map { "  p\($0): {kind: starred_projects, every: 1s, plan_ids: [a]}" }
        try workspace.write(
            """
            server: {url: "\(mock.url.replacing("http://127.0.0.1", with: "https://server.hanging.test"))", timeout: 1s}
            identity: {did: "did:ethr:0x00000000000000000000000000000000000000aa"}
            auth: {kind: none}
            storage: {path: "\(workspace.path("starwatch.db"))"}
            polls:
            \(polls.joined(separator: "\n"))
            delivery: {sinks: [{name: log, kind: log}]}
            limits: {requests_per_minute: 10000, max_concurrent_polls: 16}
            http: {listen: "127.0.0.1:0"}
            control: {socket: "\(workspace.path("s.sock"))"}
            """,
            to: "agent.yaml"
        )
        try workspace.write("", to: "lookups")
        let lookups = workspace.path("lookups")
        let agent = try await RunningAgent(
            config: workspace.path("agent.yaml"),
            in: workspace,
            environment: try FaultLibrary.hangingLookups(lookups)
        )
        let pages = agent.pages
        // Each poll's second try and its third find no room for another.
        let refused = await eventually { () -> Bool? in
            try? await requests(.dns, pages) >= 3 * Self.polls ? true : nil
        }
        #expect(refused == true)
        #expect(try String(contentsOfFile: lookups, encoding: .utf8).split(separator: "\n").count == 16)
        #expect(try await requests(.tls, pages) == 0)
        // The mock is found then, and has no certificate.
        try FileManager.default.removeItem(atPath: lookups)
        let answered = await eventually { () -> Bool? in
            try? await requests(.tls, pages) > 0 ? true : nil
        }
        #expect(answered == true)
        #expect(await agent.stop() == 0)
        try await mock.stop()
    }

    private enum Result: String { case dns, tls }

    /// Number of requests with this result, over all endpoints.
    private func requests(_ result: Result, _ pages: AgentPages) async throws -> Int {
        try await pages.get("/metrics").split(separator: "\n")
            .filter { $0.hasPrefix("starwatch_api_requests_total{") && $0.contains("result=\"\(result.rawValue)\"") }
            .compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +)
    }
}
