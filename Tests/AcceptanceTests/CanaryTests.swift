import Foundation
import MockEndorser
import Testing

/// Promise 6: it says nothing about people. Everything personal in this run is a canary that can be searched for.
@Suite(.serialized) struct CanaryTests {
    @Test(arguments: [MockDialect.canonical, .endorser])
    func logsMetricsAndStatusHoldNoCanary(dialect: MockDialect) async throws {
        let did = "did:ethr:0xCaFeDaDa000000000000000000000000CaFeDaDa"
        let secret = "canary-secret-0123456789abcdef0123456789"
        let world = try await AgentWorld {
            $0.dialect = dialect
            $0.planCount = 3
            $0.auth = dialect == .canonical ? .sharedSecret(Array(secret.utf8)) : .none
        } configure: { configuration, workspace in
            try workspace.write(secret + "\n", to: "secret")
            configuration.did = did
            configuration.sinks = TestConfiguration.webhook(configuration.server) + "\n    - name: log\n      kind: log"
            if dialect == .canonical {
                configuration.auth = "kind: shared_secret\n  secret_file: \(workspace.path("secret"))"
            }
        }
        let (mock, workspace) = (world.mock, world.workspace)
        let names = mock.plans.map(\.name)

        // Answers whose text carries what must not be repeated, in four spellings of the DID, and then real ones.
        let hex = did.unicodeScalars.map { String(format: "\\u%04x", $0.value) }.joined()
        let spellings = [
            did, did.replacing(":", with: "%3A"), did.replacing(":", with: "%3a"), hex,
        ]
        for spelling in spellings {
            mock.script(
                .status(
                    400,
                    headers: [:],
                    body: "{\"error\": \"no such user \(spelling), token eyJhbGciOiJub25lIn0.e30.x\"}"
                ),
                at: .plansChanged
            )
        }
        let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        mock.publish(mock.plans.map { MockChange(planID: $0.id) })
        let arrived = await eventually { mock.receivedNotifications.flatMap(\.jwtIDs).count == 3 ? true : nil }
        #expect(arrived == true)
        // A file that names the identity in a path that is logged, and a refused control request.
        _ = try await starwatch(
            "outbox",
            "show",
            "999999",
            "--config",
            workspace.path("starwatch.yaml")
        )
        let metrics = try await agent.pages.get("/metrics")
        let openMetrics = try await agent.pages.get("/metrics", headers: ["Accept": "application/openmetrics-text"])
        let page = try await agent.pages.get("/")
        let status = try await agent.pages.get("/api/v1/status")
        await agent.stop()
        let tokens = mock.requests(to: .plansChanged).compactMap { $0.header("Authorization") }.map {
            String($0.dropFirst("Bearer ".count))
        }
        #expect(dialect == .endorser || !tokens.isEmpty)

        var canaries = spellings + [secret, "CaFeDaDa"] + names + mock.publishedIDs + mock.planIDs + tokens
        canaries += tokens.flatMap { $0.split(separator: ".").map(String.init) }.filter { $0.count > 8 }
        let places = [
            "log": agent.logText, "metrics": metrics, "openmetrics": openMetrics, "status page": page, "status": status,
        ]
        for (place, text) in places {
            #expect(!text.isEmpty)
            for canary in canaries { #expect(!text.contains(canary), "the \(place) names a canary") }
        }
        // The test can fail: the webhook, which is meant for the person, does name them.
        let delivered = mock.receivedNotifications.flatMap(\.bodies).map { String(decoding: $0, as: UTF8.self) }
            .joined()
        #expect(names.contains { delivered.contains($0) })
        try await mock.stop()
    }
}
