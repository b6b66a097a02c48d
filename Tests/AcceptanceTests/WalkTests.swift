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
        let world = try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = 120
        } configure: { configuration, _ in
            configuration.every = "1h"
            configuration.sinks = TestConfiguration.webhook(configuration.server)
        }
        let mock = world.mock
        mock.publish(mock.plans.map { MockChange(planID: $0.id) })

        // The answers before this page are real; this one never comes, and the agent is killed while it waits.
        for _ in 1..<page { mock.script(.delay(.zero), at: .plansChanged) }
        mock.script(.neverAnswer, at: .plansChanged)
        let first = try await world.start()
        try await mock.waitForRequests(page, to: .plansChanged)
        await first.killNow()
        mock.clearFaults()
        let second = try await world.start()
        // All 120 may come as one notification, which lists 100 of them: so the table is what is counted.
        let published = Set(mock.publishedIDs)
        let pages = second.pages
        // The first agent can have acknowledged some. The ledger counts on.
        let settled = await eventually {
            try? await pages.metric("starwatch_ledger_entries_total{entry=\"acknowledged\"}") == 120 ? true : nil
        }
        #expect(settled == true)
        await second.stop()
        let stored = try Database.strings(
            world.database,
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
