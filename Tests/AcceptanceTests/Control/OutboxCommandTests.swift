import Foundation
import MockEndorser
import Testing

/// Commands on dead rows while the built agent runs.
@Suite(.timeLimit(.minutes(5))) struct OutboxCommandTests {
    /// A row as `--json` prints it.
    private struct Row: Decodable {
        struct Delivery: Decodable {
            let sink: String
            let state: String
            let rejections: Int
        }

        let id: Int
        let state: String
        let jwt_id: String
        let deliveries: [Delivery]?
    }

    private func command(_ world: AgentWorld, _ arguments: String...) async throws -> CommandResult {
        try await starwatch(["outbox"] + arguments + ["--config", world.config])
    }

    private func rows(_ world: AgentWorld, _ filter: String...) async throws -> [Row] {
        let list = try await starwatch(["outbox", "list", "--json"] + filter + ["--config", world.config])
        #expect(list.status == 0, "\(list.errors)")
        return try JSONDecoder().decode([Row].self, from: Data(list.output.utf8))
    }

    /// In place of the feed a webhook, at which one refusal is enough.
    private func deliverToTheHook(_ world: AgentWorld) throws {
        let hook = TestConfiguration.webhook(world.mock.url) + "\n"
        let yaml = try String(contentsOfFile: world.config, encoding: .utf8)
        let changed = yaml.replacing("    - name: feed\n      kind: feed\n", with: hook)
            .replacing("delivery:\n", with: "outbox:\n  max_retries: 1\ndelivery:\n")
        try world.workspace.write(changed, to: "starwatch.yaml")
    }

    /// Received changes, in order.
    private func received(_ count: Int, _ mock: MockServer) async -> [String] {
        let found = await eventually { () -> [String]? in
            let ids = mock.receivedNotifications.flatMap(\.jwtIDs)
            return ids.count >= count ? ids : nil
        }
        return found ?? []
    }

    @Test func ofTwoDeadRowsOneIsTriedAgainAndTheOtherGivenUp() async throws {
        try await AgentWorld.withControl { world in
            let mock = world.mock
            try deliverToTheHook(world)
            mock.setStickyFault(.status(400), at: .hook)
            let published = mock.publish(count: 2)
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            let pages = agent.pages
            let haveDied = await eventually {
                (try? await pages.metric("starwatch_outbox_rows{state=\"dead\"}")) ?? 0 == 2 ? true : nil
            }
            #expect(haveDied == true)

            let list = try await command(world, "list", "--state", "dead")
            #expect(list.output.split(separator: "\n").count == 3, "\(list.output)")
            let dead = try await rows(world, "--state", "dead")
            #expect(dead.map(\.jwt_id).sorted() == published.sorted())
            try #require(dead.count == 2)
            let (wanted, unwanted) = (dead[0], dead[1])
            let shown = try await command(world, "show", "\(wanted.id)")
            #expect(shown.status == 0, "\(shown.errors)")
            // However wide the columns are.
            let words = shown.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.hasPrefix("Id \(wanted.id) State dead Poll starred_projects Tries 1 "), "\(words)")
            #expect(words.contains("Claim \(wanted.jwt_id) "), "\(words)")
            #expect(words.contains("Sink hook rejected, tries 1, refused 1, last HTTP 400, since "), "\(words)")

            let given = try await command(world, "discard", "\(unwanted.id)")
            #expect(given.status == 0, "\(given.errors)")
            #expect(given.output == "1 row discarded.\n")
            mock.setStickyFault(nil, at: .hook)
            let tried = try await command(world, "retry", "\(wanted.id)")
            #expect(tried.status == 0, "\(tried.errors)")
            #expect(tried.output == "1 row will be retried.\n")
            #expect(await received(1, mock) == [wanted.jwt_id])

            let refused = try await command(world, "retry", "\(unwanted.id)")
            #expect(refused.status == 1)
            #expect(refused.output == "")
            #expect(
                refused.errors.contains("only rows in the state dead, or that a sink did not get, can be retried"),
                "\(refused.errors)"
            )
            // By the time a later one arrived, the other would have too.
            let later = mock.publish(count: 1)
            #expect(await received(2, mock) == [wanted.jwt_id] + later)
            try await expectEnds(world, delivered: wanted.jwt_id, cancelled: unwanted.jwt_id)
            for (operation, result) in [("discard", "ok"), ("retry", "ok"), ("retry", "failed")] {
                let series =
                    "starwatch_control_requests_total{operation=\"outbox_\(operation)\",result=\"\(result)\"}"
                #expect(try await pages.metric(series) == 1)
            }
            #expect(await agent.stop() == 0)
            #expect(try Database.booksBalance(world.workspace.path("starwatch.db")))
        }
    }

    /// When nothing is under way any more.
    private func expectEnds(_ world: AgentWorld, delivered: String, cancelled: String) async throws {
        let open = ["pending", "claimed"]
        let settled = try await eventually { () async throws -> [Row]? in
            let all = try await rows(world)
            return all.contains { open.contains($0.state) } ? nil : all
        }
        let all = try #require(settled)
        #expect(all.count == 3)
        let (kept, dropped) = (all.first { $0.jwt_id == delivered }, all.first { $0.jwt_id == cancelled })
        // It is acknowledged a moment later.
        #expect(["delivered", "acknowledged"].contains(kept?.state ?? ""))
        #expect(dropped?.state == "cancelled")
        let id = try #require(kept?.id)
        let shown = try await command(world, "show", "\(id)", "--json")
        let row = try JSONDecoder().decode(Row.self, from: Data(shown.output.utf8))
        #expect(row.deliveries?.map(\.sink) == ["hook"])
        #expect(row.deliveries?.map(\.state) == ["ok"])
        #expect(row.deliveries?.map(\.rejections) == [0])
        let none = try await command(world, "list", "--state", "dead")
        #expect(none.status == 0)
        #expect(none.output == "No rows.\n")
    }
}
