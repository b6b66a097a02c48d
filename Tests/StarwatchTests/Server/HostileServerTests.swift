import CZlib
import Foundation
import MockEndorser
import ProgramTestKit
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Servers that break HTTP, JSON or good faith. Each has one class, stores nothing, and is over with the next good
/// answer, which does not come on a connection that was spoilt.
@Suite(.timeLimit(.minutes(5))) struct HostileServerTests {
    enum Outcome: Sendable, Equatable {
        /// The value of `result`.
        case request(String)
        /// HTTP is right, and the page is not.
        case violation(ContractViolation)
        case accepted
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: MockFault
        let outcome: Outcome
        var testDescription: String { name }

        init(_ name: String, _ fault: MockFault, _ outcome: Outcome) {
            (self.name, self.fault, self.outcome) = (name, fault, outcome)
        }

        /// An answer of which only the head is wrong, or nothing.
        init(_ name: String, head: String = "", status: String = "200 OK", body: String = good, _ outcome: Outcome) {
            let text = "HTTP/1.1 \(status)\r\n\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            self.init(name, .raw(Array(text.utf8)), outcome)
        }

        init(_ name: String, body: [UInt8], head: String = "", _ outcome: Outcome) {
            let text = "HTTP/1.1 200 OK\r\n\(head)Content-Length: \(body.count)\r\n\r\n"
            self.init(name, .raw(Array(text.utf8) + body), outcome)
        }
    }

    private static let good = page(#""name":"A""#)

    /// A page of one item, which has these fields too.
    private static func page(_ fields: String, after: String = "") -> String {
        #"{"data":[{"plan":{"jwtId":"01KDVQN9000123456789ABCDEF","handleId":"https://a/1",\#(fields)}}],"#
            + #""hitLimit":false\#(after)}"#
    }

    private static func raw(_ text: String, then ending: MockRawEnding = .close) -> MockFault {
        .raw(Array(text.utf8), then: ending)
    }

    private static func chunked(_ chunks: String) -> MockFault {
        raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    }

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    private static func zip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        guard starwatch_deflate_init_gzip(&stream, 1) == Z_OK else { return [] }
        defer { deflateEnd(&stream) }
        let capacity = starwatch_gzip_bound(bytes.count)
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            _ = starwatch_gzip(&stream, bytes, bytes.count, buffer.baseAddress, capacity, &count)
        }
    }

    private static let bomb = zip([UInt8](repeating: 32, count: 11 << 20))
    private static let twelve = times(12 << 20, " ")
    private static let zipped = zip(Array(good.utf8))

    static let slow: [Case] = [
        Case(
            "a head that drips",
            raw("HTTP/1.1 200 OK\r\nX-A: b", then: .drip(every: .milliseconds(10))),
            .request("timeout")
        ),
        Case(
            "a body that drips",
            .dripBody(chunkBytes: 1, every: .milliseconds(20)),
            .request("timeout")
        ),
        Case(
            "a length that is too long",
            raw("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n\(good)", then: .open),
            .request("timeout")
        ),
        Case(
            "chunks without an end",
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", then: .open),
            .request("timeout")
        ),
        Case("nothing", .neverAnswer, .request("timeout")),
    ]

    static let broken: [Case] = [
        Case("a reset before the head", .raw([], then: .reset), .request("reset")),
        Case("an end before the head", .raw([]), .request("reset")),
        Case("a reset within the head", raw("HTTP/1.1 200 OK\r\nContent-", then: .reset), .request("reset")),
        Case("a reset within the body", .resetMidBody(afterBytes: 20), .request("reset")),
        Case(
            "an end within the body",
            raw("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n\(good)"),
            .request("reset")
        ),
        Case("a chunk size that is none", chunked("zz\r\n{}\r\n0\r\n\r\n"), .request("reset")),
        Case("a chunk size past all numbers", chunked("fffffffffffffffff\r\n{}"), .request("reset")),
        Case("a chunk that is longer than it says", chunked("2\r\n{}{}\r\n0\r\n\r\n"), .request("reset")),
        Case("no last chunk", chunked("2\r\n{}\r\n"), .request("reset")),
        Case("a negative length", raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n\(good)"), .request("malformed")),
        Case(
            "a length past all numbers",
            raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"),
            .request("too_large")
        ),
        Case(
            "a length that is none",
            raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n\(good)"),
            .request("malformed")
        ),
        Case("12 MB", head: "", body: twelve, .request("too_large")),
        Case("8 MB of blanks in 10 kB of gzip", .oversizedBody(bytes: 8 << 20, gzip: true), .request("too_large")),
        Case("12 MB in chunks", .oversizedBody(bytes: 12 << 20), .request("too_large")),
        Case("12 MB without a length", raw("HTTP/1.1 200 OK\r\n\r\n" + twelve), .request("too_large")),
        Case("11 MB in 50 kB of gzip", body: bomb, head: "Content-Encoding: gzip\r\n", .request("too_large")),
        Case(
            "the same twice over",
            body: zip(bomb),
            head: "Content-Encoding: gzip, gzip\r\n",
            .request("too_large")
        ),
        Case("gzip that is none", head: "Content-Encoding: gzip\r\n", .request("malformed")),
        Case(
            "gzip with a flipped bit",
            body: zipped.enumerated().map { $0 == zipped.count / 2 ? $1 ^ 4 : $1 },
            head: "Content-Encoding: gzip\r\n",
            .request("malformed")
        ),
        Case(
            "gzip cut short",
            body: Array(zipped.dropLast(12)),
            head: "Content-Encoding: gzip\r\n",
            .request("malformed")
        ),
        Case("an encoding that nobody knows", head: "Content-Encoding: x-mine\r\n", .request("malformed")),
        Case("a header of 200 kB", head: "X-A: \(times(200_000, "a"))\r\n", .request("malformed")),
        Case("600 headers of 1 kB", head: times(600, "X-A: \(times(1000, "a"))\r\n"), .request("too_large")),
        Case("100,000 small headers", head: times(100_000, "A: b\r\n"), .request("too_large")),
        Case("100,000 interim answers", raw(times(100_000, "HTTP/1.1 103 E\r\n\r\n")), .request("too_large")),
        Case(
            "trailers without an end",
            chunked("2\r\n{}\r\n0\r\n" + times(100_000, "A: b\r\n")),
            .request("too_large")
        ),
        Case("a NUL in a header", head: "X-A: a\0b\r\n", .request("malformed")),
        Case("NUL bytes", .raw([UInt8](repeating: 0, count: 1000)), .request("malformed")),
        Case("HTTP/0.9", raw(good), .request("malformed")),
        Case("another version", raw("HTTP/7.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"), .request("malformed")),
        Case("a status that is none", raw("HTTP/1.1 2x0 OK\r\nContent-Length: 2\r\n\r\n{}"), .request("malformed")),
        Case("a status of four digits", raw("HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\n{}"), .request("malformed")),
        Case("mail", raw("220 mail.example ESMTP\r\n"), .request("malformed")),
        Case("a redirect", .redirect(to: "http://127.0.0.1:1/"), .request("redirected")),
        Case(
            "a redirect to a file",
            head: "Location: file:///etc/passwd\r\n",
            status: "302 Found",
            .request("redirected")
        ),
        Case(
            "a switch of protocols",
            head: "Upgrade: x\r\nConnection: Upgrade\r\n",
            status: "101 Switching Protocols",
            .request("malformed")
        ),
        Case("a status without meaning", status: "999 X", .request("malformed")),
    ]

    static let pages: [Case] = [
        Case("no body", body: "", .request("malformed")),
        Case(
            "a length that is too short",
            raw("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n\(good)"),
            .request("malformed")
        ),
        Case("arrays within arrays, a million deep", body: times(1_000_000, "["), .request("malformed")),
        Case("the same with an end", body: times(500_000, "[") + times(500_000, "]"), .violation(.schema)),
        Case(
            "objects within objects",
            body: page(#""x":"# + times(300_000, #"{"a":"#) + "1" + times(300_000, "}")),
            .accepted
        ),
        Case("a million empty items", body: #"{"data":["# + times(1_000_000, "{},") + "{}]}", .violation(.schema)),
        Case(
            "a million numbers for items",
            body: #"{"data":["# + times(1_000_000, "1,") + "1]}",
            .violation(.schema)
        ),
        Case("100,000 keys", body: page((0..<100_000).map { #""\#($0)":0"# }.joined(separator: ",")), .accepted),
        Case("the same key 100,000 times", body: page(times(99_999, #""name":"B","#) + #""name":"A""#), .accepted),
        Case("data twice", body: #"{"data":[{}],"data":[{}]}"#, .violation(.schema)),
        Case("a number past all numbers", body: page(#""locLat":1e999,"locLon":-1e999"#), .accepted),
        Case(
            "a number of 10,000 digits",
            body: page(#""locLat":\#(times(10_000, "9")),"x":0.\#(times(10_000, "9"))"#),
            .accepted
        ),
        Case(
            "such a number for an id",
            body: #"{"data":[{"plan":{"jwtId":1e999,"handleId":1e999}}]}"#,
            .violation(.schema)
        ),
        Case("such a number for hitLimit", body: #"{"data":[],"hitLimit":1e999}"#, .violation(.schema)),
        Case("a name of 5 MB", body: page(#""name":"\#(times(5_000_000, "a"))""#), .accepted),
        Case("a name of one character of 5 MB", body: page(#""name":"a\#(times(2_500_000, "\u{301}"))""#), .accepted),
        Case(
            "a handle of 5 MB",
            body: #"{"data":[{"plan":{"jwtId":"01KDVQN9000123456789ABCDEF","handleId":"\#(times(5_000_000, "a"))"}}]}"#,
            .violation(.schema)
        ),
        Case(
            "an id of 5 MB",
            body: #"{"data":[{"plan":{"jwtId":"\#(times(5_000_000, "0"))","handleId":"a"}}]}"#,
            .violation(.schema)
        ),
        Case(
            "invalid UTF-8",
            body: Array(#"{"data":[],"x":""#.utf8) + [0xff, 0xfe, 0x22, 0x7d],
            .request("malformed")
        ),
        Case(
            "an overlong form",
            body: Array(#"{"data":[],"x":""#.utf8) + [0xc0, 0xaf, 0x22, 0x7d],
            .request("malformed")
        ),
        Case("half of a surrogate pair", body: page(#""name":"\ud800""#), .accepted),
        Case("a NUL in the JSON", body: "{\"data\":\0[]}", .request("malformed")),
        Case("a NUL for the JSON", body: [0], .request("malformed")),
        Case("two pages", body: good + good, .request("malformed")),
        Case("something after the page", body: good + "<!-- -->", .request("malformed")),
        Case("HTML", body: "<html>", .request("html")),
    ]

    @Test(arguments: slow + broken + pages)
    func whateverItAnswersHasOneClassAndIsForgotten(hostile: Case) async throws {
        let isSlow = Self.slow.contains { $0.name == hostile.name }
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = .endorser
                $0.server.timeout = isSlow ? .seconds(2) : longestWait
                // Each try waits to the limit, so only one case has the usual three.
                if isSlow, hostile.name != "nothing" { $0.server.retryAttempts = 1 }
            }
            world.mock.publish(count: 2)
            world.mock.setStickyFault(hostile.fault, at: .plansChanged)
            let report = try await agent.runPoll(World.starred)
            let page = await agent.page()
            let ways = page.series(of: "starwatch_api_requests_total").filter { page.values[$0] ?? 0 > 0 }
            #expect(Set(ways.compactMap { $0.labels["result"] }) == [hostile.outcome.result], "\(ways)")
            for kind in ContractViolation.allCases {
                #expect(
                    page["starwatch_contract_violations_total", ["poll": World.starred, "kind": kind.rawValue]]
                        == (hostile.outcome.violation == kind ? 1 : 0)
                )
            }
            let stored = try await agent.rows(Set(OutboxState.allCases))
            if hostile.outcome == .accepted {
                #expect(report.outcome == "changed")
                #expect(stored == ["01KDVQN9000123456789ABCDEF"])
                return
            }
            #expect(report.outcome == "failed")
            #expect(stored.isEmpty)
            #expect(try await agent.state(of: world.did).fetchCursor == nil)

            world.mock.clearFaults()
            world.clock.advance(by: .seconds(900))
            var good = try await agent.runPoll(World.starred)
            // On a busy machine a good answer can also be slower than the short limit.
            while isSlow, good.outcome != "changed", !Task.isCancelled {
                world.clock.advance(by: .seconds(900))
                good = try await agent.runPoll(World.starred)
            }
            #expect(good.outcome == "changed")
            #expect(good.new == 2)
        }
    }

    @Test func whatIsKeptOfALongNameIsShort() async throws {
        let name = Self.times(100_000, "a") + "\u{301}"
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.server.dialect = .endorser
            }
            world.mock.setStickyFault(.status(200, body: Self.page(#""name":"\#(name)""#)), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try await agent.outboxList(state: nil).first?.name == Self.times(500, "a") + "…")
        }
    }
}

extension HostileServerTests.Outcome {
    /// The value of `result` that a request of this outcome is counted with.
    var result: String {
        if case .request(let result) = self { result } else { "ok" }
    }

    /// Invalid HTTP counts as a contract violation too.
    var violation: ContractViolation? {
        switch self {
        case .request("malformed"): .schema
        case .request, .accepted: nil
        case .violation(let kind): kind
        }
    }
}
