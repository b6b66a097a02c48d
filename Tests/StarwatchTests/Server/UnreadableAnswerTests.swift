import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct UnreadableAnswerTests {
    static let bodies: [[UInt8]] = [
        Array(#"{"data":[],"hitLi"#.utf8), Array(#"{"data":[],"hitLimit":false,"x":""#.utf8) + [0xff, 0x22, 0x7d], [],
        Array("<html>".utf8),
    ]

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
