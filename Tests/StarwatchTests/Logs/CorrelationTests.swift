import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Testing

@testable import Starwatch

/// The ids by which log lines, exemplars and stored rows belong together.
@Suite struct CorrelationTests {
    private struct Line: Decodable {
        struct Metadata: Decodable {
            let server_request_id: String?
        }
        let event: String
        let run_id: String?
        let request_id: String?
        let identity: String?
        let project_count: Int?
        let metadata: Metadata?
    }

    private func lines(_ bench: Bench, _ event: AgentEvent) throws -> [Line] {
        try bench.log.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            .filter { $0.event == event.name }
    }

    @Test func aPollsLineNamesItsRequestIdentityAndStars() async throws {
        try await Bench.run(sinks: ["hook"], configure: { options, _, _ in options.log.level = .info }) {
            bench async throws in
            await bench.fetch(1)
            let line = try #require(try lines(bench, .pollChanged).first)
            let sent = bench.mock.requests(to: .plansChanged).first
            #expect(line.request_id == sent?.header("X-Request-ID"))
            #expect(line.request_id != nil)
            #expect(line.run_id == "run_of_the_test")
            #expect(line.identity?.wholeMatch(of: /did:hash:[0-9a-f]{16}/) != nil)
            #expect(line.project_count == bench.mock.planIDs.count)
            // A server that repeats our id has none of its own.
            #expect(line.metadata?.server_request_id == nil)
        }
    }

    @Test func aFailedPollsLineNamesTheServersIDOfTheRequest() async throws {
        try await Bench.run(sinks: ["hook"], configure: { options, _, _ in options.log.level = .debug }) {
            bench async throws in
            bench.mock.setStickyFault(
                .status(403, body: #"{"error":"forbidden","requestId":"req_ghi789"}"#),
                at: .plansChanged
            )
            await bench.poll()
            let line = try #require(try lines(bench, .pollFailed).first)
            #expect(line.metadata?.server_request_id == "req_ghi789")
            let attempt = try #require(try lines(bench, .apiFailure).first)
            #expect(attempt.metadata?.server_request_id == "req_ghi789")
            #expect(attempt.request_id == line.request_id)
            #expect(attempt.run_id == line.run_id)
        }
    }

    @Test func anAcknowledgementsLineNamesTheRunOfItsChangeAndItsRequest() async throws {
        try await Bench.run(sinks: ["hook"], configure: { options, _, _ in options.log.level = .info }) {
            bench async throws in
            bench.mock.script(.status(500), at: .acknowledge)
            await bench.fetch(1)
            await bench.dispatch()
            await bench.acknowledge()
            let line = try #require(try lines(bench, .acknowledgeFailed).first)
            let sent = bench.mock.requests(to: .acknowledge).last
            #expect(line.run_id == "run_of_the_test")
            #expect(line.request_id == sent?.header("X-Request-ID"))
            #expect(try lines(bench, .notificationDelivered).first?.run_id == "run_of_the_test")
        }
    }

    @Test func aRequestsExemplarNamesItsRunAndItsRequest() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            let sent = try #require(bench.mock.requests(to: .plansChanged).first?.header("X-Request-ID"))
            let page = String(decoding: bench.agent.metrics.registry.page(.openMetrics), as: UTF8.self)
            let exemplar = "{run_id=\"run_of_the_test\",request_id=\"\(sent)\"}"
            let named = page.split(separator: "\n").filter { $0.contains(exemplar) }
            #expect(named.contains { $0.hasPrefix("starwatch_api_requests_total{") })
            #expect(named.contains { $0.hasPrefix("starwatch_api_latency_seconds_bucket{") })
        }
    }

    @Test func theStoredLogIsReadByRunLevelAndTimeAtOnce() async throws {
        try await Bench.run(sinks: ["hook"], configure: { options, _, _ in options.log.level = .info }) {
            bench async throws in
            bench["hook"].script(.refused)
            await bench.fetch(1)
            await bench.dispatch()
            var query = LogQuery()
            query.run = "run_of_the_test"
            let lines = try await bench.agent.perform(ControlAPI.listLogs, query).lines
            try #require(lines.map(\.level) == [.info, .warn])
            #expect(lines.first?.line.contains("poll.changed") == true)
            query.level = .warn
            #expect(try await bench.agent.perform(ControlAPI.listLogs, query).lines.map(\.id) == [lines[1].id])
            query.level = nil
            query.after = lines[0].id
            #expect(try await bench.agent.perform(ControlAPI.listLogs, query).lines.map(\.id) == [lines[1].id])
            query.since = (bench.clock.now + .seconds(1)).iso8601
            #expect(try await bench.agent.perform(ControlAPI.listLogs, query).lines == [])
            query.since = "yesterday"
            let error = await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.listLogs, query).lines
            }
            #expect(error?.kind == .invalid)
            let all = try await bench.agent.perform(ControlAPI.listLogs, LogQuery()).lines
            #expect(!all.contains { $0.line.contains("did:key:") })
        }
    }
}
