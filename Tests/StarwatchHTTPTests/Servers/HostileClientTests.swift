import Foundation
import NIOCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// Clients that break HTTP, or that mean no good. After each of them the server answers the next one.
@Suite(.timeLimit(.minutes(5)))
struct HostileClientTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let request: String
        let status: String
        var testDescription: String { name }

        init(_ name: String, _ request: String, _ status: String) {
            (self.name, self.request, self.status) = (name, request, status)
        }
    }

    private static let end = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    private static func get(_ target: String, _ headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
    }

    private static func post(_ headers: String, _ body: String = "") -> String {
        "POST /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n\(body)"
    }

    private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

    static let cases = [
        Case("a header of 100 kB", get("/metrics", "X-A: \(long(100_000))\r\n"), "400"),
        Case("2,000 headers", get("/metrics", String(repeating: "X-A: 1\r\n", count: 2000)), "400"),
        Case("headers without an end", "GET / HTTP/1.1\r\n" + String(repeating: "X-A: 1\r\n", count: 2000), "400"),
        Case("an address of 100 kB", get("/" + long(100_000)), "400"),
        Case("an address of 60 kB", get("/" + long(60_000)), "404"),
        Case("6,000 name[]", get("/metrics?" + String(repeating: "name[]=up&", count: 6000)), "200"),
        Case("NUL bytes", "\0\0\0\0\r\n\r\n", "400"),
        Case("a NUL in a header", get("/metrics", "X-A: \0\r\n"), "400"),
        Case("a NUL in the address", get("/metrics\0"), "400"),
        Case("a blank in a header's name", get("/metrics", "X A: 1\r\n"), "400"),
        Case("a blank before the colon", get("/metrics", "Content-Length : 1\r\n"), "400"),
        Case("a folded header", get("/metrics", "X-A: 1\r\n 2\r\n"), "400"),
        Case("HTTP/0.9", "GET /metrics\r\n\r\n", "400"),
        Case("HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"),
        Case("TLS", "\u{16}\u{3}\u{1}\0\u{5}\u{1}\0\0\u{1}\r\n", "400"),
        Case("a method of its own", "STEAL /metrics" + end, "400"),
        Case("a method in lower case", "get /metrics" + end, "400"),
        Case("TRACE", "TRACE /metrics" + end, "405"),
        Case("CONNECT", "CONNECT a:1" + end, "400"),
        Case("OPTIONS *", "OPTIONS *" + end, "400"),
        Case("two lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n", "x"), "400"),
        Case("a length and chunks", post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "400"),
        Case("a negative length", post("Content-Length: -1\r\n"), "400"),
        Case("a length past all numbers", post("Content-Length: 99999999999999999999\r\n"), "400"),
        Case("a length that is none", post("Content-Length: 1x\r\n"), "400"),
        Case("a transfer encoding that is none", post("Transfer-Encoding: chunked, identity\r\n"), "400"),
        Case("an address as to a proxy", get("http://evil.example/metrics"), "200"),
        Case("the same without a path", get("HTTP://evil.example"), "200"),
        Case("the same without a host", get("http:///metrics"), "200"),
        Case("another scheme", get("file:///etc/passwd"), "404"),
        Case("a way out of the root", get("/../../../etc/passwd"), "404"),
        Case("the same, escaped", get("/%2e%2e/%2e%2e%2fetc%2fpasswd"), "404"),
        Case("an escaped NUL", get("/metrics%00"), "404"),
        Case("half an escape", get("/metrics?name[]=%f"), "400"),
        Case("an escape that is no UTF-8", get("/metrics?name[]=%ff%fe"), "400"),
        Case("a body that a reader does not want", get("/metrics", "Content-Length: 4\r\n") + "body", "200"),
        Case("one that does not come", get("/metrics", "Content-Length: 1000000000\r\n"), "200"),
        Case("a body to where nothing is taken", post("Content-Length: 4\r\n", "body"), "405"),
        Case("HTTP/1.1 without a host", "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n", "400"),
        Case("HTTP/1.0 without a host", "GET /metrics HTTP/1.0\r\nConnection: close\r\n\r\n", "200"),
    ]

    @Test(arguments: cases)
    func whoBreaksTheRulesGetsAnAnswerAndTheNextOneToo(hostile: Case) async throws {
        let agent = FakeAgent()
        try await withAdmin(agent) { probe in
            let answer = try await probe.exchange(hostile.request)
            #expect(answer.hasPrefix("HTTP/1.1 \(hostile.status) "), "\(answer.prefix(200))")
            #expect(try await probe.get("/-/healthy").status == 200)
        }
        #expect(agent.now.calls.isEmpty)
    }

    @Test func manyRequestsAtOnceAreAnsweredOneAfterTheOther() async throws {
        try await withAdmin(FakeAgent()) { probe in
            let one = "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let answers = try await probe.exchange(String(repeating: one, count: 500) + Self.get("/-/healthy"))
            #expect(answers.components(separatedBy: "HTTP/1.1 200 ").count == 502)
            #expect(answers.hasSuffix(#"{"healthy":true}"#))
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHos", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf", "",
    ])
    func whoDoesNotGoOnIsCutOff(request: String) async throws {
        var settings = ServerSettings()
        (settings.limits.idle, settings.limits.request) = (.milliseconds(100), .milliseconds(100))
        let server = try HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", settings: settings, logger: quiet)
        try await withRunning(server) { address in
            // Returns when the server has closed.
            _ = try await HTTPProbe(address: address).exchange(request)
        }
    }

    @Test func aCrowdThatSaysNothingKeepsNobodyOut() async throws {
        var settings = ServerSettings()
        settings.limits.connections = 4
        let server = try HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", settings: settings, logger: quiet)
        try await withRunning(server) { address in
            try await Self.crowd(20, at: address) {
                for path in ["/metrics", "/-/healthy"] {
                    let reply = try await HTTPProbe(address: address).get(path)
                    #expect(reply.status == 200)
                }
            }
        }
    }

    /// Holds as many connections open as asked for, half of them with half a request.
    private static func crowd(_ count: Int, at address: String, _ body: () async throws -> Void) async throws {
        guard count > 0 else { return try await body() }
        try await HTTPProbe.holding(address, count % 2 == 0 ? "GET / HTTP/1.1\r\nHo" : "") {
            try await crowd(count - 1, at: address, body)
        }
    }
}
