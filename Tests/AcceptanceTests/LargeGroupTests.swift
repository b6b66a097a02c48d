import Foundation
import MockEndorser
import ProgramTestKit
import StarwatchCore
import Testing

/// More changes than one notification holds, from the built agent, while a sink is down and the agent dies.
@Suite struct LargeGroupTests {
    @Test func everyOfferReachesEverySinkByNameAlthoughOneWasDown() async throws {
        let secret = "large-group-secret-0123456789abcdef"
        let port = try FreePort.take()
        let world = try await AgentWorld {
            $0.auth = .sharedSecret(Array(secret.utf8))
        } configure: { configuration, workspace in
            try workspace.write(secret + "\n", to: "secret")
            configuration.sinks = TestConfiguration.webhook("http://127.0.0.1:\(port)") + "\n" + configuration.sinks
            configuration.auth = "kind: shared_secret\n  secret_file: \(workspace.path("secret"))"
            configuration.polls = ["offers: {kind: offers_to_me, every: 1s, bootstrap: beginning}"]
        }
        let (mock, workspace) = (world.mock, world.workspace)
        let ids = mock.publishOffers(count: 1250, to: world.configuration.did).sorted()

        @Sendable func filed() -> [NotificationMessage] {
            let text = (try? String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { NotificationMessage(json: Array($0.utf8)) }
        }
        @Sendable func sum(_ messages: [NotificationMessage]) -> Int { messages.reduce(0) { $0 + $1.changes.count } }

        var agent = try await world.start()
        // The outbox is full: the rest waits on the server until the dead sink is back.
        let isBegun = await eventually { sum(filed()) >= 500 ? true : nil }
        #expect(isBegun == true)
        await agent.killNow()
        var receiver = MockServerOptions()
        receiver.port = port
        let hook = MockServer(options: receiver)
        try await hook.start()
        agent = try await world.start()
        let isComplete = await eventually {
            sum(filed()) >= 1250 && hook.receivedNotifications.reduce(0) { $0 + $1.jwtIDs.count } >= 1250 ? true : nil
        }
        #expect(isComplete == true)
        let database = world.database
        let isFinished = await eventually {
            let open = try? Database.integer(
                database,
                "SELECT count(*) FROM notification_outbox WHERE state IN ('pending', 'claimed', 'delivered')"
            )
            return open == 0 ? true : nil
        }
        #expect(isFinished == true)
        #expect(await agent.stop() == 0)

        let messages = filed()
        #expect(messages.flatMap { $0.changes.map(\.jwtID) }.sorted() == ids)
        #expect(hook.receivedNotifications.flatMap(\.jwtIDs).sorted() == ids)
        #expect(messages.allSatisfy { $0.count == $0.changes.count && $0.count <= 100 })
        #expect(Set(messages.map(\.id)) == Set(hook.receivedNotifications.map(\.id)))
        #expect(messages.contains { $0.part == 2 && $0.body == "\($0.count) more of \($0.total ?? 0)" })
        #expect(try Database.booksBalance(database))
        try await hook.stop()
        try await mock.stop()
    }
}
