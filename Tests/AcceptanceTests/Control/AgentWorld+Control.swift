import Foundation
import MockEndorser
import ProgramTestKit

extension AgentWorld {
    static let token = "Bearer a-token-of-some-length"

    /// Gives `body` an agent's files, with a feed and a control API over TCP.
    ///
    /// - Parameter sinks: As YAML, besides the feed.
    static func withControl(
        sinks: (Workspace) -> String = { _ in "" },
        _ body: (AgentWorld) async throws -> Void
    ) async throws {
        let world = try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = 3
        } configure: { configuration, workspace in
            configuration.groupInterval = "0s"
            configuration.sinks = "    - name: feed\n      kind: feed\n" + sinks(workspace)
            try configuration.listen(in: workspace)
        }
        try await body(world)
        try await world.mock.stop()
    }

    var control: String { configuration.controlAddress ?? "" }

    /// Until the feed has so many.
    func sequences(_ count: Int) async -> [Int] {
        let found = await eventually { () -> [Int]? in
            let headers = ["Authorization": Self.token]
            guard let body = try? await AgentPages(address: control).get("/api/v1/notifications", headers: headers)
            else { return nil }
            let sequences = body.matches(of: /"sequence":(\d+)/).compactMap { Int($0.1) }
            return sequences.count >= count ? sequences : nil
        }
        return found ?? []
    }
}

extension TestConfiguration {
    /// Adds a control API over TCP, which requires ``AgentWorld/token``.
    mutating func listen(in workspace: Workspace) throws {
        controlAddress = "127.0.0.1:\(try FreePort.take())"
        try workspace.write("a-token-of-some-length\n", to: "token")
    }
}
