import InMemoryTracing
import MockEndorser
import StarwatchCore
import Testing
import Tracing

@testable import Starwatch

@Suite(.timeLimit(.minutes(5)))
struct TraceTests {
    private func hook(_ world: World) -> SinkOptions {
        SinkOptions(name: "hook", kind: .webhook(url: world.mock.url + "/hook", secretFile: nil, timeout: .seconds(60)))
    }

    /// Runs the starred poll with delivery and acknowledgement under a span of the host's; the spans in order of their end.
    private func trace(_ agent: Agent, _ tracer: W3CTracer = W3CTracer()) async throws -> [FinishedInMemorySpan] {
        _ = try await withTracer(tracer) {
            try await withSpan("host") { _ in try await agent.runPoll(World.starred) }
        }
        return tracer.memory.finishedSpans
    }

    @Test func aCycleIsATreeOfSpansWithWhatHappenedInThem() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.delivery.sinks = [hook(world)]
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish(world.mock.plans.prefix(2).map { MockChange(planID: $0.id) })
            let spans = try await trace(agent)
            let names = Dictionary(uniqueKeysWithValues: spans.map { ($0.spanID, $0.operationName) })
            let tree = spans.map { "\($0.operationName) in \($0.parentSpanID.flatMap { names[$0] } ?? "nothing")" }
            #expect(
                tree == [
                    "starwatch.request in starwatch.cycle", "starwatch.commit in starwatch.cycle",
                    "starwatch.cycle in host", "starwatch.delivery in host",
                    "starwatch.request in starwatch.acknowledge", "starwatch.acknowledge in host", "host in nothing",
                ]
            )
            #expect(spans.map(\.kind) == [.client, .internal, .internal, .client, .client, .internal, .internal])
            let runID = try #require(spans[2].text("starwatch.run_id"))
            #expect(runID.hasPrefix("run_"))
            var texts = spans.map(\.texts)
            // These passes have a run of their own.
            for index in 3...5 { texts[index]["starwatch.run_id"] = nil }
            #expect(
                texts == [
                    [
                        "starwatch.endpoint": "plans_changed", "starwatch.run_id": runID, "starwatch.attempt": "1",
                        "http.response.status_code": "200", "starwatch.outcome": "ok",
                    ],
                    [
                        "starwatch.poll": World.starred, "starwatch.run_id": runID, "starwatch.count": "2",
                        "starwatch.new": "2",
                    ],
                    [
                        "starwatch.poll": World.starred, "starwatch.run_id": runID, "starwatch.outcome": "changed",
                        "starwatch.fetched": "2", "starwatch.new": "2",
                    ],
                    ["starwatch.sink": "hook", "starwatch.count": "2", "starwatch.outcome": "ok"],
                    [
                        "starwatch.endpoint": "acknowledge", "starwatch.attempt": "1",
                        "http.response.status_code": "200", "starwatch.outcome": "ok",
                    ],
                    ["starwatch.poll": World.starred, "starwatch.count": "2", "starwatch.outcome": "ok"],
                    [:],
                ]
            )
            #expect(spans.allSatisfy { $0.status == nil && $0.errors.isEmpty })
            let personal = [world.did.rawValue] + world.mock.planIDs + world.mock.publishedIDs
            for value in spans.flatMap(\.texts.values) {
                for text in personal { #expect(!value.contains(text)) }
            }
        }
    }

    @Test func theServerAndTheWebhookAreToldOfTheirSpanAndOfNothingElse() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.delivery.sinks = [hook(world)]
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            let spans = try await trace(agent)
            let expected: [(MockEndpoint, String)] = [
                (.plansChanged, "plans_changed"), (.acknowledge, "acknowledge"),
            ]
            for (endpoint, word) in expected {
                let span = try #require(spans.first { $0.text("starwatch.endpoint") == word })
                let request = try #require(world.mock.requests(to: endpoint).first)
                #expect(request.header("traceparent") == W3CTracer.traceparent(span.spanContext))
                #expect(request.header("baggage") == nil)
            }
            let delivery = try #require(spans.first { $0.operationName == "starwatch.delivery" })
            let request = try #require(world.mock.requests(to: .hook).first)
            #expect(request.header("traceparent") == W3CTracer.traceparent(delivery.spanContext))
            #expect(request.header("baggage") == nil)
        }
    }

    @Test func failuresAreErrorsOfTheirSpansInAFixedWord() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.delivery.sinks = [hook(world)]
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            world.mock.script(.status(400), at: .hook)
            let secret = "{\"error\": \"\(world.did.rawValue)\"}"
            for _ in 0..<3 { world.mock.script(.status(500, headers: [:], body: secret), at: .plansChanged) }
            let failed = try await trace(agent)
            let requests = failed.filter { $0.operationName == "starwatch.request" }
            #expect(requests.map { $0.text("starwatch.attempt") } == ["1", "2", "3"])
            #expect(requests.allSatisfy { $0.status == SpanStatus(code: .error, message: "server_error") })
            #expect(requests.allSatisfy { $0.text("http.response.status_code") == "500" })
            let cycle = try #require(failed.first { $0.operationName == "starwatch.cycle" })
            #expect(cycle.status == SpanStatus(code: .error, message: "failed"))

            let next = try await trace(agent)
            let delivery = try #require(next.first { $0.operationName == "starwatch.delivery" })
            #expect(delivery.status == SpanStatus(code: .error, message: "rejected"))
            #expect(try #require(next.first { $0.operationName == "starwatch.cycle" }).status == nil)
        }
    }

    @Test func aSkippedCycleIsASpanWithItsReasonAndNoError() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            _ = try await agent.setIdentity(nil)
            let cycle = try #require(try await trace(agent).first { $0.operationName == "starwatch.cycle" })
            #expect(cycle.text("starwatch.outcome") == "no_identity")
            #expect(cycle.status == nil)
        }
    }

    @Test func withoutATracerNothingIsSentAndThereIsNoSpan() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.delivery.sinks = [hook(world)]
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            _ = try await agent.runPoll(World.starred)
            for endpoint in [MockEndpoint.plansChanged, .acknowledge, .hook] {
                let request = try #require(world.mock.requests(to: endpoint).first)
                #expect(request.header("traceparent") == nil)
            }
            let isIdle = await Trace.span(.cycle) { $0 == nil }
            #expect(isIdle)
        }
    }
}
