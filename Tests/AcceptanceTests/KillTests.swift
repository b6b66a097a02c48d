import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// kill -9 at random moments: no change is lost or delivered twice, the watermark is correct, and the counters are
/// consistent.
@Suite(.serialized) struct KillTests {
    @Test(arguments: [MockDialect.canonical, .endorser])
    func everyChangeArrivesThoughTheAgentIsKilledAtRandomMoments(dialect: MockDialect) async throws {
        let world = try await AgentWorld {
            $0.dialect = dialect
            $0.planCount = 200
            $0.acknowledgementsPerMinute = nil
            $0.latency = .milliseconds(5)
        } configure: { configuration, _ in
            configuration.sinks = TestConfiguration.webhook(configuration.server) + "\n" + configuration.sinks
            configuration.logLevel = "info"
        }
        let (mock, workspace) = (world.mock, world.workspace)

        // 200 changes of 200 plans, ten for each of 20 lives of the agent. Each life ends at a moment of its own,
        // from before the first request to well after a delivery.
        var generator = SystemRandomNumberGenerator()
        var agent = try await world.start()
        for life in 0..<20 {
            mock.publish(mock.plans[life * 10..<life * 10 + 10].map { MockChange(planID: $0.id) })
            await pause(milliseconds: Int.random(in: 0...900, using: &generator))
            await agent.killNow()
            agent = try await world.start()
        }
        let published = Set(mock.publishedIDs)
        #expect(published.count == 200)
        let arrived = await eventually {
            Set(mock.receivedNotifications.flatMap(\.jwtIDs)) == published ? true : nil
        }
        #expect(arrived == true, "\(Set(mock.receivedNotifications.flatMap(\.jwtIDs)).count) of 200 arrived")

        // No id with two contents, and no change in two notifications.
        let received = mock.receivedNotifications
        let oneContentEach = received.allSatisfy(\.bodiesAgree)
        #expect(oneContentEach)
        #expect(received.flatMap(\.jwtIDs).count == published.count)

        let last = try #require(published.max())
        let database = workspace.path("starwatch.db")
        let reached = await eventually {
            (try? Database.watermark(at: database)) == last ? true : nil
        }
        #expect(reached == true, "the watermark stands at \((try? Database.watermark(at: database)) ?? "none")")
        // Sinks are independent, and the watermark waits for all of them.
        let file = try String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)
        let written = file.matches(of: /"jwt_id":"([^"]*)"/).map { String($0.1) }
        #expect(written.sorted() == published.sorted(), "the file sink has \(written.count) of 200")

        let address = agent.address
        let settled = await eventually { () -> Bool? in
            guard let page = try? await HTTP.get("http://\(address)/metrics").body else { return nil }
            return page.contains("starwatch_outbox_rows{state=\"delivered\"} 0\n")
                && page.contains("starwatch_outbox_rows{state=\"pending\"} 0\n") ? true : nil
        }
        #expect(settled == true)
        if dialect == .canonical { #expect(Set(mock.acknowledgedIDs) == published) }
        #expect(try await agent.pages.metric("starwatch_ledger_imbalance_rows{law=\"fetched\"}") == 0)
        #expect(try await agent.pages.metric("starwatch_ledger_imbalance_rows{law=\"new\"}") == 0)
        #expect(await agent.stop() == 0)
        try await mock.stop()
    }

    @Test func theServerGetsNoMoreThanTheLimitThoughTheAgentIsKilledAtRandomMoments() async throws {
        let world = try await AgentWorld(configure: { configuration, _ in
            configuration.logLevel = "info"
            configuration.requestsPerMinute = 100
            let plan = configuration.plans[0]
            configuration.polls = (1...15).map {
                "poll_\($0): { kind: starred_projects, every: 1s, plan_ids: [\"\(plan)\"] }"
            }
        })
        let mock = world.mock
        // Each life sends at least 16 requests: more than 100 together, whether they are stored ahead or not. Where that takes
        // longer than a life, there are more of them, which last ever longer.
        var starts: [Date] = []
        while starts.count < 12 || mock.requestCount(of: .plansChanged) <= 60, starts.count < 60 {
            starts.append(Date())
            let agent = try await world.start()
            await pause(milliseconds: Int.random(in: 0...900) * (1 + starts.count / 12))
            await agent.killNow()
        }
        // The minutes begin with lives. A request that arrives late was still sent after the beginning of its life.
        let times = mock.requests(to: .plansChanged).map(\.receivedAt)
        for start in starts {
            let sent = times.count { (start..<start.addingTimeInterval(60)).contains($0) }
            #expect(sent <= 100)
        }
        #expect(times.count > 60)
        try await mock.stop()
    }
}
