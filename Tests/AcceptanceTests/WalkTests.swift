import Foundation
import MockEndorser
import Testing

/// The endorser dialect runs from the newest to the oldest, so an interrupted walk must not lose what is older.
@Suite(.serialized) struct WalkTests {
    /// The one number of a notification; its other fields are passed over.
    struct JSONCount: Decodable {
        let value: Int?

        init(from decoder: any Decoder) throws {
            value = try? decoder.singleValueContainer().decode(Int.self)
        }
    }

    @Test(arguments: 1...3)
    func threeDescendingPagesInterruptedBeforeAnyPageLoseNothing(page: Int) async throws {
        var options = MockServerOptions()
        options.dialect = .endorser
        options.planCount = 120
        options.requestsPerMinute = nil
        let mock = MockServer(options: options)
        try await mock.start()
        mock.publish(mock.plans.map { MockChange(planID: $0.id) })
        let workspace = try Workspace()
        let configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            every: "1h",
            sinks: TestConfiguration.webhook(mock.url)
        )
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")

        // The answers before this page are real; this one never comes, and the agent is killed while it waits.
        for _ in 1..<page { mock.script(.delay(.zero), at: .plansChanged) }
        mock.script(.neverAnswer, at: .plansChanged)
        let first = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        try await mock.waitForRequests(page, to: .plansChanged)
        first.killNow()
        mock.clearFaults()
        let second = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        // All 120 may come as one notification, which lists 100 of them: so the table is what is counted.
        let published = Set(mock.publishedIDs)
        let pages = second.pages
        let settled = await eventually(within: .seconds(60)) {
            try? await pages.metric("starwatch_acknowledgements_total{result=\"local\"}") == 120 ? true : nil
        }
        #expect(settled == true)
        second.stop()
        let stored = try Database.strings(
            workspace.path("starwatch.db"),
            "SELECT jwt_id FROM notification_outbox WHERE state = 'acknowledged'"
        )
        #expect(Set(stored) == published)
        let counts = try mock.receivedNotifications.map { notification in
            try JSONDecoder().decode([String: JSONCount].self, from: notification.bodies[0])["count"]?.value ?? 0
        }
        #expect(counts.reduce(0, +) == 120)
        try await mock.stop()
    }
}
