import Foundation
import MockEndorser
import Testing

/// The endorser dialect runs from the newest to the oldest, so an interrupted walk must not lose what is older.
@Suite(.serialized) struct WalkTests {
    @Test(arguments: 1...3)
    func threeDescendingPagesInterruptedBeforeAnyPageLoseNothing(page: Int) async throws {
        var options = MockServerOptions()
        options.dialect = .endorser
        options.planCount = 120
        options.requestsPerMinute = nil
        options.initialChanges = 0
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
        let published = Set(mock.publishedIDs)
        let arrived = await eventually(within: .seconds(60)) {
            Set(mock.receivedNotifications.flatMap(\.jwtIDs)) == published ? true : nil
        }
        #expect(arrived == true, "\(Set(mock.receivedNotifications.flatMap(\.jwtIDs)).count) of 120 arrived")
        #expect(mock.receivedNotifications.flatMap(\.jwtIDs).count == published.count)
        second.stop()
        try await mock.stop()
    }
}
