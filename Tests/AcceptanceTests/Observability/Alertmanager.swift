import Foundation
import MockEndorser
import ProgramTestKit

/// A throw-away Alertmanager, and the receiver of its webhook.
final class Alertmanager: Sendable {
    /// Alert as a receiver gets it.
    struct Alert: Decodable, Sendable {
        let status: String
        let labels: [String: String]
        let annotations: [String: String]
    }

    private struct Message: Decodable { let alerts: [Alert] }

    let address: String
    private let process: RunningProgram
    private let receiver: MockServer

    init(in workspace: Workspace) async throws {
        receiver = MockServer()
        // The mock's own receiver knows notifications only; this one takes whatever comes.
        receiver.setStickyFault(.status(200), at: .hook)
        try await receiver.start()
        try workspace.write(
            """
            route: {receiver: hook, group_by: ["..."], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
            receivers:
              - name: hook
                webhook_configs: [{url: "\(receiver.url)/hook", send_resolved: true}]

            """,
            to: "alertmanager.yml"
        )
        address = "127.0.0.1:\(try FreePort.take())"
        process = try RunningProgram(
            "prometheus-alertmanager",
            [
                "--config.file=\(workspace.path("alertmanager.yml"))",
                "--storage.path=\(workspace.path("alertmanager"))", "--web.listen-address=\(address)",
                "--cluster.listen-address=",
            ],
            log: workspace.url.appending(path: "alertmanager.log")
        )
        try await process.waitUntilReady(at: "http://\(address)/-/ready")
    }

    /// Every alert that the receiver was told of, in order.
    var received: [Alert] {
        receiver.requests(to: .hook).flatMap { request in
            (try? JSONDecoder().decode(Message.self, from: request.body))?.alerts ?? []
        }
    }

    func stop() async throws {
        await process.stop()
        try await receiver.stop()
    }
}
