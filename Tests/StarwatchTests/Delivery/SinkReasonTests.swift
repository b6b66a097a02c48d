import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Reasons of failed deliveries, where an operator sees them.
@Suite struct SinkReasonTests {
    private func withHook(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run(
            configure: { options, mock, _ in
                let kind = SinkOptions.Kind.webhook(url: mock.url + "/hook", secretFile: nil, timeout: .seconds(60))
                options.delivery.sinks = [SinkOptions(name: "hook", kind: kind)]
                options.outbox.maxRetries = 20
                options.log.level = .debug
            },
            body
        )
    }

    private func attempt(_ bench: Bench, times: Int = 1) async {
        for _ in 0..<times {
            await bench.dispatch()
            bench.clock.advance(by: .seconds(60))
        }
    }

    private func delivery(_ bench: Bench) async throws -> OutboxEntry.Delivery {
        let row = try #require(try await bench.rows().first)
        return try #require(try await bench.agent.perform(ControlAPI.showOutboxRow, row.id).deliveries?.first)
    }

    @Test func aSinkThatRefusesEveryTimeIsNotWorking() async throws {
        try await withHook { bench async throws in
            bench.mock.setStickyFault(.status(404), at: .hook)
            await bench.fetch(1)
            await attempt(bench, times: 2)
            #expect(await bench.agent.state().outbox.sinks == ["hook": "closed"])
            await attempt(bench)
            let outbox = await bench.agent.state().outbox
            #expect(outbox.sinks == ["hook": "rejecting"])
            #expect(outbox.sinkReasons == ["hook": "http_404"])
            #expect(await bench.sample(#"starwatch_delivery_failures_total{sink="hook",reason="http_404"}"#) == "3")
            #expect(try await delivery(bench).reason == "http_404")
            let line = try #require(bench.log.lines.first { $0.contains("\"event\":\"sink.rejected\"") })
            #expect(line.contains("\"reason\":\"http_404\""))
            #expect(line.contains("(HTTP 404)"))

            bench.mock.clearFaults()
            await attempt(bench)
            let recovered = await bench.agent.state().outbox
            #expect(recovered.sinks == ["hook": "closed"] && recovered.sinkReasons.isEmpty)
            #expect(try await delivery(bench).reason == nil)
        }
    }

    @Test(arguments: [
        (MockFault.resetBeforeHead, "reset", FailureLabel.reset), (.status(503), "http_503", .http503),
        (.status(502), "http_502", .http5xx), (.status(422), "http_422", .http4xx),
        (.status(410), "http_410", .http410),
    ])
    func everyFailureHasItsReasonInTheOutboxTheStatusAndTheMetrics(
        fault: MockFault,
        reason: String,
        label: FailureLabel
    ) async throws {
        try await withHook { bench async throws in
            bench.mock.setStickyFault(fault, at: .hook)
            await bench.fetch(1)
            await bench.dispatch()
            #expect(await bench.agent.state().outbox.sinkReasons == ["hook": reason])
            let series = "starwatch_delivery_failures_total{sink=\"hook\",reason=\"\(label.rawValue)\"}"
            #expect(await bench.sample(series) == "1")
            // A sink that is gone releases its rows.
            if label != .http410 { #expect(try await delivery(bench).reason == reason) }
        }
    }

    @Test func aWaitForTheSinkKeepsTheReasonOfItsLastAttempt() async throws {
        try await withHook { bench async throws in
            bench.mock.script(.status(503, headers: ["Retry-After": "600"]), at: .hook)
            await bench.fetch(1)
            await attempt(bench, times: 3)
            #expect(bench.mock.requestCount(of: .hook) == 1)
            #expect(try await delivery(bench).reason == "http_503")
        }
    }
}
