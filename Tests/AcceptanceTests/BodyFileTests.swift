import Foundation
import MockEndorser
import Testing

/// The body of a webhook in the user's own form, by the built agent.
@Suite(.timeLimit(.minutes(5))) struct BodyFileTests {
    private struct Body: Decodable {
        let key: String
        let text: String
        let count: Int?
        let changes: [Change]?

        struct Change: Decodable { let plan: String }
    }

    private func withWorld(_ body: (AgentWorld) async throws -> Void) async throws {
        let world = try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = 3
        } configure: { configuration, workspace in
            configuration.groupInterval = "0s"
            let file = workspace.path("body.json")
            configuration.sinks = TestConfiguration.webhook(configuration.server) + "\n      body_file: \(file)"
        }
        try await body(world)
        try await world.mock.stop()
    }

    /// The bodies that the receiver has, when there are so many.
    private func bodies(_ count: Int, in world: AgentWorld) async throws -> [Data] {
        try #require(
            await eventually { () -> [Data]? in
                let bodies = world.mock.requests(to: .hook).map { Data($0.body) }
                return bodies.count >= count ? bodies : nil
            }
        )
    }

    @Test func theReceiverGetsTheBodyThatCheckShowsAndAReloadReadsItAgain() async throws {
        try await withWorld { world in
            let text =
                #"{"key": "a-secret-of-the-template", "text": "{{title}}: {{changes.0.name}}", "count": "{{count}}"}"#
            try world.workspace.write(text, to: "body.json")
            let check = try await starwatch("check", "--render", "--config", world.config)
            #expect(check.status == 0, "\(check.errors)")
            let shown = try #require(check.output.split(separator: "\n").last)
            let example = try JSONDecoder().decode(Body.self, from: Data(shown.utf8))
            #expect(example.text == #"Project Update: Garden "North""# && example.count == 1)

            let name = #"A "quoted" \ {{title}} 🌻</b>"#
            let agent = try await world.start()
            world.mock.publish([MockChange(planID: world.mock.planIDs[0], name: name)])
            let first = try JSONDecoder().decode(Body.self, from: try await bodies(1, in: world)[0])
            #expect(first.text == "Project Update: \(name)" && first.count == 1)

            try world.workspace.write(
                text.replacing(#""{{count}}""#, with: #"null, "changes": "{{changes}}""#),
                to: "body.json"
            )
            #expect(try await starwatch("reload", "--config", world.config).status == 0)
            // A file with a mistake changes nothing.
            try world.workspace.write(#"{"text": "{{titel}}"}"#, to: "body.json")
            let refused = try await starwatch("reload", "--config", world.config)
            #expect(refused.status != 0)
            #expect(refused.errors.contains("body.json:1: has the unknown field {{titel}}; did you mean {{title}}?"))
            world.mock.publish([MockChange(planID: world.mock.planIDs[1], name: "B")])
            let second = try JSONDecoder().decode(Body.self, from: try await bodies(2, in: world)[1])
            #expect(second.text == "Project Update: B" && second.count == nil)
            #expect(second.changes?.first?.plan == world.mock.planIDs[1])
            #expect(await agent.stop() == 0)

            let log = try String(contentsOfFile: world.workspace.path("agent.log"), encoding: .utf8)
            #expect(log.contains("notification.delivered") && !log.contains("a-secret-of-the-template"))
        }
    }

    @Test func checkRendersEachWebhookAndChatWithoutTheNetwork() async throws {
        let workspace = try Workspace()
        let sinks = ["slack", "discord", "mattermost", "teams", "apprise"].map { format in
            let path = [
                "slack": "services/T", "discord": "api/webhooks/1", "mattermost": "hooks/1", "apprise": "notify/k",
                "teams": "workflows/1",
            ]
            return
                "    - {name: \(format), kind: webhook, format: \(format), url: \"http://127.0.0.1:1/\(path[format] ?? "")\"}"
        }
        try workspace.write("a-token-of-a-bot\n", to: "token")
        let token = workspace.path("token")
        let more = [
            "    - {name: bot, kind: webhook, format: telegram, room: \"4711\", token_file: \(token)}",
            "    - {name: push, kind: webhook, format: pushover, room: a-user-key, token_file: \(token)}",
            "    - {name: plain, kind: webhook, url: \"http://127.0.0.1:1/\"}", "    - {name: log, kind: log}",
        ]
        let lines = (sinks + more).joined(separator: "\n")
        let configuration = TestConfiguration(server: "http://127.0.0.1:1", plans: [], sinks: lines)
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        let result = try await starwatch("check", "--render", "--json", "--config", workspace.path("starwatch.yaml"))
        #expect(result.status == 0, "\(result.errors)")
        struct Report: Decodable {
            struct Body: Decodable { let sink: String, body: String }
            let bodies: [Body]
        }
        let bodies = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8)).bodies
        #expect(
            bodies.map(\.sink) == ["slack", "discord", "mattermost", "teams", "apprise", "bot", "push", "plain"]
        )
        for body in bodies {
            let json = try JSONSerialization.jsonObject(with: Data(body.body.utf8))
            #expect(json is [String: Any] && body.body.contains("North"), "\(body)")
        }
        #expect(!["a-token-of-a-bot", "4711", "a-user-key"].contains { result.output.contains($0) })
        let plain = try await starwatch("check", "--json", "--config", workspace.path("starwatch.yaml"))
        #expect(!plain.output.contains("bodies"))
    }
}
