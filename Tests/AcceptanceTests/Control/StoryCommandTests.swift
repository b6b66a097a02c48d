import Foundation
import MockEndorser
import Testing

/// `explain` and `logs` of the built agent, while it runs and while it does not.
@Suite(.timeLimit(.minutes(5))) struct StoryCommandTests {
    private struct Story: Decodable {
        struct Step: Decodable {
            let step: String
            let result: String?
        }
        struct Wait: Decodable {
            let reason: String
            let sink: String?
            let until: String?
        }
        let id: String
        let run_id: String?
        let state: String
        let steps: [Step]
        let waits: [Wait]
    }

    private func story(_ world: AgentWorld, _ id: String) async throws -> Story? {
        let result = try await starwatch("explain", id, "--json", "--config", world.config)
        guard result.status == 0 else { return nil }
        return try JSONDecoder().decode(Story.self, from: Data(result.output.utf8))
    }

    private func logs(_ world: AgentWorld, _ arguments: String...) async throws -> [Substring] {
        let result = try await starwatch(["logs"] + arguments + ["--config", world.config])
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n")
    }

    @Test func aChangeThroughASinkThatRefusesTwiceIsExplainedToItsEnd() async throws {
        try await AgentWorld.withControl { world in
            let yaml = try String(contentsOfFile: world.config, encoding: .utf8)
            let hook = TestConfiguration.webhook(world.mock.url) + "\n"
            try world.workspace.write(
                yaml.replacing("    - name: feed\n      kind: feed\n", with: hook)
                    .replacing("delivery:\n", with: "outbox:\n  max_retries: 100\ndelivery:\n"),
                to: "starwatch.yaml"
            )
            // It refuses until the wait was seen, which a slow command can miss between two tries.
            world.mock.setStickyFault(.status(400), at: .hook)
            let id = try #require(world.mock.publish(count: 1).first)
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            let waiting = try await eventually { () -> Story? in
                let story = try await story(world, id)
                guard world.mock.requestCount(of: .hook) >= 2 else { return nil }
                return story?.waits.first?.reason == "rejected" ? story : nil
            }
            world.mock.clearFaults()
            #expect(waiting?.waits.first?.sink == "hook")
            #expect(waiting?.waits.first?.until != nil)
            let done = try await eventually { () -> Story? in
                let story = try await story(world, id)
                return story?.steps.last?.step == "watermark" ? story : nil
            }
            let results = done?.steps.compactMap(\.result) ?? []
            #expect(results.count >= 3 && results.last == "ok")
            #expect(results.dropLast().allSatisfy { $0 == "rejected" }, "\(results)")
            #expect(done?.waits.isEmpty == true)

            let run = try #require(done?.run_id)
            let lines = try await logs(world, "--run", run)
            #expect(lines.contains { $0.contains("poll.changed") && $0.contains("request_id") })
            #expect(lines.contains { $0.contains("sink.rejected") })
            #expect(lines.contains { $0.contains("notification.delivered") })
            #expect(lines.allSatisfy { $0.contains(run) })
            await agent.stop()

            #expect(try await story(world, done?.id ?? "")?.steps.count == done?.steps.count)
            let kept = try await logs(world, "--level", "warn", "--since", "1h")
            #expect(kept.contains { $0.contains("sink.rejected") })
            #expect(!kept.contains { $0.contains("poll.changed") })
        }
    }
}
