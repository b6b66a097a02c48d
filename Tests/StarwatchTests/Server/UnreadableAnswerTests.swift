import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct UnreadableAnswerTests {
    static let bodies: [[UInt8]] = [
        Array(#"{"data":[],"hitLi"#.utf8), Array(#"{"data":[],"hitLimit":false,"x":""#.utf8) + [0xff, 0x22, 0x7d], [],
    ]
    static let webPage = Array("<html>".utf8)

    private static func answer(_ body: [UInt8]) -> MockFault {
        .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
    }

    @Test(arguments: bodies)
    func aPageWhoseJSONCannotBeDecodedIsMalformedAndNotOK(body: [UInt8]) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            world.mock.setStickyFault(Self.answer(body), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            let page = await agent.page()
            func requests(_ result: String) -> Double? {
                page["starwatch_api_requests_total", ["endpoint": "plans_changed", "result": result]]
            }
            #expect(requests("malformed") == 1)
            #expect(requests("ok") == 0)
            #expect(page["starred_projects_error_total"] == 1)
            #expect(page["starwatch_contract_violations_total", ["poll": World.starred, "kind": "schema"]] == 1)
        }
    }

    /// Log, report, status and history have one reason, and none of them blames HTTP.
    @Test(arguments: [(bodies[0], FailureReason.Cause.notJSON), (webPage, .html)])
    func anAnswerThatIsNotAPageHasTheSameReasonEverywhere(body: [UInt8], cause: FailureReason.Cause) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.log.level = .debug }
            world.mock.setStickyFault(Self.answer(body), at: .plansChanged)
            let report = try await agent.runPoll(World.starred)
            #expect(report.reason == cause.sentence && report.cause == cause.rawValue)
            let status = try #require(await agent.state().polls[World.starred])
            #expect(status.lastReason == cause.rawValue && status.lastError == cause.sentence)
            for event in ["api.failure", "poll.failed"] {
                let line = try #require(world.log.lines.first { $0.contains("\"event\":\"\(event)\"") })
                #expect(line.contains("\"reason\":\"\(cause.rawValue)\""))
                #expect(line.contains("\"error\":\"\(cause.sentence)\""))
            }
            #expect(!cause.sentence.contains("HTTP"))
        }
    }

    /// A redirect and the login page of a network are not the server's, so they do not count as its mistakes, and no item of
    /// them is set aside.
    @Test(arguments: [(MockFault.status(302), "redirected", "http_3xx"), (answer(webPage), "html", "html")])
    func whatIsNotFromTheServerDoesNotBreakItsContract(fault: MockFault, result: String, label: String) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            world.mock.setStickyFault(fault, at: .plansChanged)
            for cycle in 1...4 {
                let report = try await agent.runPoll(World.starred)
                #expect(report.outcome == "failed")
                #expect(world.mock.requestCount(of: .plansChanged) == cycle)
                world.clock.advance(by: .seconds(900))
            }
            let page = await agent.page()
            #expect(page["starwatch_api_requests_total", ["endpoint": "plans_changed", "result": result]] == 4)
            #expect(page["starwatch_poll_failure_reasons_total", ["poll": World.starred, "reason": label]] == 4)
            #expect(page["starwatch_contract_violations_total", ["poll": World.starred, "kind": "schema"]] == 0)
            let status = await agent.state()
            let problem = try #require(status.problems?.first)
            #expect(problem.problem == "failing" && problem.reason == label)
            #expect(!world.log.lines.contains { $0.contains("poll.contract_violation") })
        }
    }

    @Test func anAcknowledgementWhoseAnswerCannotBeDecodedIsMalformed() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(1)
            bench.mock.script(Self.answer(Array(#"{"acknowledged":1,"fai"#.utf8)), at: .acknowledge)
            #expect(await bench.acknowledge().acknowledged == 0)
            let malformed = await bench.sample(
                #"starwatch_api_requests_total{endpoint="acknowledge",result="malformed"}"#
            )
            #expect(malformed == "1")
            #expect(await bench.sample(#"starwatch_api_requests_total{endpoint="acknowledge",result="ok"}"#) == "0")
        }
    }
}
