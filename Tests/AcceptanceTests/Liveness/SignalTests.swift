import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// SIGHUP and SIGTERM, to the built agent.
@Suite struct SignalTests {
    @Test func aReloadTakesTheNewFileAndCountsOn() async throws {
        let world = try await AgentWorld(.canonical)
        world.mock.publish(count: 3)
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        let (pages, mock) = (agent.pages, world.mock)
        let acknowledged = await eventually { mock.acknowledgedIDs.count == 3 ? true : nil }
        #expect(acknowledged == true)
        let counted = [
            "starwatch_poll_attempts_total{poll=\"starred_projects\"}",
            "starwatch_outbox_changes_total{change=\"inserted\"}",
            "starwatch_api_latency_seconds_count{endpoint=\"plans_changed\"}",
            "starwatch_delivery_attempts_total{sink=\"file\",result=\"ok\"}",
        ]
        var before: [Double] = []
        for series in counted { before.append(try #require(try await pages.metric(series))) }
        let nothingWasCounted = before.contains(0)
        #expect(!nothingWasCounted)

        var text = try String(contentsOfFile: world.config, encoding: .utf8)
        text += "outbox:\n  max_undelivered: 77\n"
        try world.workspace.write(text, to: "starwatch.yaml")
        agent.hangUp()
        let address = await eventually { agent.lastAddress == pages.address ? nil : agent.lastAddress }
        let after = AgentPages(address: try #require(address))
        #expect(try await after.metric("starwatch_outbox_capacity_rows") == 77)
        for (series, value) in zip(counted, before) {
            let now = try #require(try await after.metric(series))
            // Polls go on meanwhile, as many as there is time for.
            let isOfPolls = series.contains("poll_attempts") || series.contains("api_latency")
            #expect(isOfPolls ? now >= value : now == value, "\(series) was \(value) and is \(now)")
        }

        // An invalid configuration is rejected and changes nothing.
        try world.workspace.write(text + "polls: 3\n", to: "starwatch.yaml")
        agent.hangUp()
        let refused = await eventually {
            (try? await after.metric("starwatch_config_last_reload_successful")) == 0 ? true : nil
        }
        #expect(refused == true)
        #expect(try await after.metric("starwatch_outbox_capacity_rows") == 77)
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func anEndThatIsAskedForDuringAReloadIsAnEnd() async throws {
        let world = try await AgentWorld(.endorser)
        for wait in [0, 5, 20, 60, 150] {
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            agent.hangUp()
            await pause(milliseconds: wait)
            // An agent that goes on is killed, which is another status.
            #expect(await agent.stop() == 0)
        }
        try await world.mock.stop()
    }

    @Test(arguments: [MockEndpoint.hook, .plansChanged, .acknowledge])
    func whatHangsDoesNotHoldTheEndBeyondItsDeadlineAndIsNotLost(endpoint: MockEndpoint) async throws {
        let world = try await AgentWorld(.canonical, limits: "shutdown: 1s")
        // Without the deadline the agent waits for the request, and is killed long before that is given up.
        try world.write {
            $0.serverLines = "timeout: 10m"
            $0.sinks = $0.sinks.replacing("/hook\n", with: "/hook\n      timeout: 10m\n")
        }
        try await world.cycle()
        world.mock.setStickyFault(.neverAnswer, at: endpoint)
        world.mock.publish(count: 3)
        // Before the start: a fast agent asks at once, and asks again only after its ten minutes.
        world.mock.forgetRequests()
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        try await world.mock.waitForRequests(1, to: endpoint)
        #expect(await agent.stop() == 0)
        world.mock.clearFaults()
        try await world.expectAllIsWell("after \(endpoint) hung")
        try await world.mock.stop()
    }
}
