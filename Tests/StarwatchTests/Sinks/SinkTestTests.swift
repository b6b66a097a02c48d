import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct SinkTestTests {
    @Test func aTestIsDeliveredPastTheCircuitAndChangesNothing() async throws {
        try await World.with(.endorser) { world in
            let url = world.mock.url + "/hook"
            let agent = try await world.agent { options in
                options.delivery.sinks = [
                    SinkOptions(name: "hook", kind: .webhook(url: url, secretFile: nil, timeout: .seconds(60)))
                ]
            }
            let sink = try #require(agent.process.sinks.first)
            while sink.circuitState != .open {
                _ = sink.record(.timeout, at: world.clock.now)
                world.clock.advance(by: .seconds(3600))
            }
            let report = try await agent.perform(ControlAPI.testSink, "hook")
            #expect(report.result == .ok && report.error == nil && report.notificationID.hasPrefix("ntf_"))
            let received = world.mock.receivedNotifications
            #expect(received.map(\.jwtIDs) == [[]])
            #expect(sink.circuitState == .open)
            #expect(try await agent.outboxList(OutboxQuery()).isEmpty)
            world.mock.setStickyFault(.status(400), at: .hook)
            let refused = try await agent.perform(ControlAPI.testSink, "hook")
            #expect(refused.result == .rejected && refused.error?.contains("HTTP 400") == true)
            let unknown = await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.testSink, "nobody")
            }
            #expect(unknown?.kind == .notFound)
            let page = await agent.page()
            #expect(page["starwatch_control_requests_total", ["operation": "sink_test", "result": "ok"]] == 2)
        }
    }

    @Test func theLastScrapeIsKnownAndSurvivesAReload() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            // A person's request is no scrape.
            _ = await agent.topics.metrics(MetricsQuery())
            #expect(await agent.state().lastScrape == nil)
            var query = MetricsQuery()
            query.scrapeTimeout = .seconds(10)
            _ = await agent.topics.metrics(query)
            let scraped = await agent.state().lastScrape
            #expect(scraped == world.clock.now.iso8601)
            await agent.close()
            let next = try await Agent(options: agent.options, time: world.clock, after: agent, logSinks: [])
            #expect(await next.state().lastScrape == scraped)
            await next.close()
        }
    }
}
