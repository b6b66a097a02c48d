import Foundation
import MockEndorser
import StarwatchCore
import Testing

/// Notifications from the built agent: their words, their links, and what a person does with them.
@Suite struct NotificationTests {
    private struct Scene {
        let mock: MockServer
        let workspace: Workspace
        var config: String { workspace.path("starwatch.yaml") }

        /// The notifications in the file sink, in their order.
        func messages() -> [NotificationMessage] {
            let text = (try? String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { NotificationMessage(json: Array($0.utf8)) }
        }

        func sent(_ count: Int) async throws -> [NotificationMessage] {
            try #require(
                await eventually {
                    let messages = self.messages()
                    return messages.count >= count ? messages : nil
                }
            )
        }

        func command(_ arguments: String...) async throws -> CommandResult {
            try await starwatch(arguments + ["--config", config])
        }
    }

    private func withScene(
        delivery: String = "",
        _ body: (Scene) async throws -> Void
    ) async throws {
        var options = MockServerOptions()
        options.dialect = .endorser
        options.planCount = 20
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        let configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: TestConfiguration.file(workspace)
        )
        let yaml = configuration.yaml(in: workspace).replacingOccurrences(
            of: "delivery:\n",
            with: "delivery:\n\(delivery)"
        )
        try workspace.write(yaml, to: "starwatch.yaml")
        do {
            try await body(Scene(mock: mock, workspace: workspace))
        } catch {
            try await mock.stop()
            throw error
        }
        try await mock.stop()
    }

    private func publish(_ count: Int, _ scene: Scene) -> [String] {
        scene.mock.publish(scene.mock.plans.prefix(count).map { MockChange(planID: $0.id) })
    }

    @Test func aSnoozeOutlivesTheAgentAndComesAgainUnderAnIDOfItsOwn() async throws {
        try await withScene { scene in
            var agent = try await RunningAgent(config: scene.config, in: scene.workspace)
            _ = publish(3, scene)
            let first = try await scene.sent(1)[0]
            let done = try await scene.command("notifications", "act", first.id, "snooze_1h", "--json")
            #expect(done.status == 0, "\(done.errors)")
            let report = try JSONDecoder().decode(JSON.self, from: Data(done.output.utf8))
            let repetition = try #require(report["repetition"].text)
            #expect(report["already"].isTrue == false)
            let again = try await scene.command("notifications", "act", first.id, "snooze_1h")
            #expect(again.status == 0 && again.output.hasPrefix("Done before") && again.output.contains(repetition))

            await agent.killNow()
            // An hour passes while the agent is down: nobody can wait for one here.
            let database = scene.workspace.path("starwatch.db")
            try Database.execute(
                database,
                "UPDATE deliveries SET next_attempt_at = next_attempt_at - 3600000, updated_at = updated_at - 3600000 "
                    + "WHERE state = 'pending'"
            )
            agent = try await RunningAgent(config: scene.config, in: scene.workspace)
            let messages = try await scene.sent(2)
            #expect(messages[1] == first.repeated(id: repetition, of: first.id))
            let shown = try await scene.command("notifications", "show", repetition)
            #expect(shown.output.contains(first.id) && shown.status == 0)
            let list = try await scene.command("notifications", "list")
            #expect(list.output.contains("snooze_1h") && list.output.split(separator: "\n").count == 3)
            #expect(try Database.booksBalance(database))
            #expect(await agent.stop() == 0)
        }
    }

    @Test func aShortlinkIsResolvedByTheRunningAgentAndLeadsElsewhereWhenItIsPastItsTime() async throws {
        try await withScene { scene in
            let agent = try await RunningAgent(config: scene.config, in: scene.workspace)
            let ids = publish(12, scene)
            // All of a page are one notification.
            let message = try #require(try await scene.sent(1).last)
            let resolved = try await scene.command("deeplink", message.deepLink, "--json")
            #expect(resolved.status == 0, "\(resolved.errors)")
            let target = try JSONDecoder().decode(JSON.self, from: Data(resolved.output.utf8))
            #expect(target["route"].text == "updates")
            #expect(Set(target["jwt_ids"].list.compactMap(\.text)) == Set(ids))
            #expect(target["plan_ids"].list.count == 12)
            #expect(await agent.stop() == 0)

            // The database answers where no agent runs; and a day later, nobody knows.
            let stored = try await scene.command("deeplink", message.deepLink, "--json")
            #expect(stored.output == resolved.output)
            try Database.execute(
                scene.workspace.path("starwatch.db"),
                "UPDATE shortlinks SET expires_at = expires_at - 86400000"
            )
            let expired = try await scene.command("deeplink", message.deepLink)
            #expect(expired.status == 0)
            #expect(expired.output.contains("timesafari://notifications/starred-projects"))
            #expect(expired.errors.split(separator: "\n").count == 1)
        }
    }

    @Test func theTextsOfAFolderComeFirstAndThoseWithAMistakeAreRefused() async throws {
        try await withScene(delivery: "  locale: pl\n  catalogues: texts\n") { scene in
            let folder = scene.workspace.path("texts")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try scene.workspace.write("{\"staleness.banner.title\": \"{oops}\"}", to: "texts/pl.json")
            let bad = try await scene.command("check")
            #expect(bad.status == 2)
            #expect(bad.errors.contains("pl.json: staleness.banner.title: there is no variable oops"), "\(bad.errors)")

            try scene.workspace.write(
                "{\"notifications.starred_projects.single_title\": \"Nowina\"}",
                to: "texts/pl.json"
            )
            let agent = try await RunningAgent(config: scene.config, in: scene.workspace)
            scene.mock.publish([MockChange(planID: scene.mock.planIDs[0], name: "Ogród")])
            let message = try await scene.sent(1)[0]
            #expect(message.title == "Nowina")
            #expect(message.body == "Projekt Ogród został zaktualizowany")
            #expect(await agent.stop() == 0)
        }
    }
}
