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
            while sink.circuit.state != .open {
                _ = sink.change { $0.record(.timeout, at: world.clock.now) }
                world.clock.advance(by: .seconds(3600))
            }
            let report = try await agent.perform(ControlAPI.testSink, "hook")
            #expect(report.result == .ok && report.error == nil && report.notificationID.hasPrefix("ntf_"))
            #expect(report.messages.map(\.message) == TestNotification.allCases)
            let received = world.mock.receivedNotifications
            #expect(received.map(\.jwtIDs.count) == [1, 3, 0])
            #expect(sink.circuit.state == .open)
            #expect(try await agent.outboxList(OutboxQuery()).isEmpty)
            world.mock.setStickyFault(.status(400), at: .hook)
            let refused = try await agent.perform(ControlAPI.testSink, "hook")
            #expect(refused.result == .rejected && refused.error?.contains("HTTP 400") == true)
            // Another form can be accepted.
            #expect(refused.messages.map(\.result) == [.rejected, .rejected, .rejected])
            let unknown = await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.testSink, "nobody")
            }
            #expect(unknown?.kind == .notFound)
            let page = await agent.page()
            #expect(page["starwatch_control_requests_total", ["operation": "sink_test", "result": "ok"]] == 2)
        }
    }

    @Test func theAnswerOfTheServiceIsToldAndNeverLogged() async throws {
        try await World.with(.endorser) { world in
            let url = world.mock.url + "/hook?key=of-the-url"
            let agent = try await world.agent { options in
                options.log.level = .debug
                options.delivery.sinks = [
                    SinkOptions(name: "hook", kind: .webhook(url: url, secretFile: nil, timeout: .seconds(60)))
                ]
            }
            let body = "no chat\r\n for of-the-url of me@example.org"
            world.mock.setStickyFault(.status(400, body: body), at: .hook)
            let report = try await agent.perform(ControlAPI.testSink, "hook")
            #expect(report.messages.map(\.answer).contains("no chat for [REDACTED:token] of [REDACTED:id]"))
            #expect(!world.log.lines.contains { $0.contains("no chat") })
            // A sink that is down is not tried again.
            world.mock.setStickyFault(.status(503, body: "busy"), at: .hook)
            let down = try await agent.perform(ControlAPI.testSink, "hook")
            #expect(down.messages.map(\.answer) == ["busy"] && down.result == .unavailable)
            // Telegram answers to a message with the names of the chat.
            world.mock.setStickyFault(.status(200, body: "Ann in room 7"), at: .hook)
            let accepted = try await agent.perform(ControlAPI.testSink, "hook")
            #expect(accepted.messages.map(\.result) == [.ok, .ok, .ok])
            #expect(accepted.messages.allSatisfy { $0.answer == nil })
        }
    }

    @Test func theFirstRefusalDecidesTheResult() {
        func message(_ test: TestNotification, _ result: SinkAnswer) -> SinkTestReport.Message {
            SinkTestReport.Message(
                message: test,
                notificationID: "ntf_\(test.rawValue)",
                result: result,
                error: result == .ok ? nil : "Refused.",
                tookMilliseconds: 2
            )
        }
        let mixed = [message(.oneChange, .ok), message(.severalChanges, .rejected), message(.notice, .ok)]
        let report = SinkTestReport(sink: "hook", messages: mixed)
        #expect(report.result == .rejected && report.error == "Refused." && report.tookMilliseconds == 6)
        #expect(report.notificationID == "ntf_several_changes")
        let good = SinkTestReport(sink: "hook", messages: [message(.oneChange, .ok), message(.notice, .ok)])
        #expect(good.result == .ok && good.error == nil && good.notificationID == "ntf_notice")
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
            let next = try await Agent(
                options: agent.options,
                time: world.clock,
                after: agent,
                logSinks: [],
                dependencies: AgentDependencies().patient
            )
            #expect(await next.state().lastScrape == scraped)
            await next.close()
        }
    }
}
