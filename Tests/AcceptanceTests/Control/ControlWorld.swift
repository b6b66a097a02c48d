import Foundation
import MockEndorser

/// A mock server and the configuration of an agent that answers its control API over TCP, with a feed.
struct ControlWorld {
    let mock: MockServer
    let workspace: Workspace
    let control: String
    var config: String { workspace.path("starwatch.yaml") }
    var pages: AgentPages { AgentPages(address: control) }

    static let token = "Bearer a-token-of-some-length"

    /// - Parameter sinks: As YAML, besides the feed.
    static func with(
        sinks: (Workspace) -> String = { _ in "" },
        _ body: (ControlWorld) async throws -> Void
    ) async throws {
        var options = MockServerOptions()
        options.dialect = .endorser
        options.planCount = 3
        options.requestsPerMinute = nil
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        let control = "127.0.0.1:\(try FreePort.take())"
        try workspace.write("a-token-of-some-length\n", to: "token")
        var configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            groupInterval: "0s",
            sinks: "    - name: feed\n      kind: feed\n" + sinks(workspace)
        )
        configuration.control = "listen: \(control)\n  token_file: \(workspace.path("token"))"
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        try await body(ControlWorld(mock: mock, workspace: workspace, control: control))
        try await mock.stop()
    }

    /// Until the feed has so many.
    func sequences(_ count: Int) async -> [Int] {
        let found = await eventually { () -> [Int]? in
            let headers = ["Authorization": Self.token]
            guard let body = try? await pages.get("/api/v1/notifications", headers: headers) else { return nil }
            let sequences = body.matches(of: /"sequence":(\d+)/).compactMap { Int($0.1) }
            return sequences.count >= count ? sequences : nil
        }
        return found ?? []
    }
}
