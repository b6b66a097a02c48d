import Foundation
import MockEndorser
import StarwatchCore
import Testing

/// More changes than one notification holds, from the built agent, while a sink is down and the agent dies.
@Suite struct LargeGroupTests {
    @Test func everyOfferReachesEverySinkByNameAlthoughOneWasDown() async throws {
        let secret = "large-group-secret-0123456789abcdef"
        var options = MockServerOptions()
        options.auth = .sharedSecret(Array(secret.utf8))
        options.requestsPerMinute = nil
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        try workspace.write(secret + "\n", to: "secret")
        let port = try FreePort.take()
        var configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: TestConfiguration.webhook("http://127.0.0.1:\(port)") + "\n" + TestConfiguration.file(workspace)
        )
        configuration.auth = "kind: shared_secret\n  secret_file: \(workspace.path("secret"))"
        configuration.polls = ["offers: {kind: offers_to_me, every: 1s, bootstrap: beginning}"]
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        let ids = mock.publishOffers(count: 1250, to: configuration.did).sorted()

        @Sendable func filed() -> [NotificationMessage] {
            let text = (try? String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { NotificationMessage(json: Array($0.utf8)) }
        }
        @Sendable func sum(_ messages: [NotificationMessage]) -> Int { messages.reduce(0) { $0 + $1.changes.count } }

        var agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        // The outbox is full: the rest waits on the server until the dead sink is back.
        let isBegun = await eventually { sum(filed()) >= 500 ? true : nil }
        #expect(isBegun == true)
        agent.killNow()
        var receiver = MockServerOptions()
        receiver.port = port
        let hook = MockServer(options: receiver)
        try await hook.start()
        agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        let isComplete = await eventually(within: .seconds(90)) {
            sum(filed()) >= 1250 && hook.receivedNotifications.reduce(0) { $0 + $1.jwtIDs.count } >= 1250 ? true : nil
        }
        #expect(isComplete == true)
        let database = workspace.path("starwatch.db")
        let isFinished = await eventually {
            let open = try? Database.integer(
                database,
                "SELECT count(*) FROM notification_outbox WHERE state IN ('pending', 'claimed', 'delivered')"
            )
            return open == 0 ? true : nil
        }
        #expect(isFinished == true)
        #expect(agent.stop() == 0)

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
