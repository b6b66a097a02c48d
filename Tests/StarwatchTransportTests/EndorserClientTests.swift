import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

@Suite struct EndorserClientTests {
    private func client(_ server: LoopbackServer, path: String = "") throws -> EndorserClient {
        EndorserClient(
            http: try makeClient(),
            baseURL: server.url(path),
            clientVersion: "starwatch/1.0",
            userAgent: "agent/1",
            maxResponseBytes: 1000
        )
    }

    private func send(
        _ request: EndorserRequest,
        to client: EndorserClient
    ) async -> (outcome: Result<HTTPResponse, APIFailure>, report: RequestReport) {
        let exchange = await client.send(request)
        let answer = Mutex<HTTPResponse?>(nil)
        let end = await exchange.read(RequestReport(exchange)) { response in
            answer.withLock { $0 = response }
            return nil
        }
        return (end.failure.map(Result.failure) ?? .success(answer.withLock { $0! }), end.report)
    }

    @Test func postHasAllRequiredHeaders() async throws {
        let seen = Events(of: LoopbackRequest.self)
        let server = try LoopbackServer.answering {
            seen.report.yield($0)
            return answer(body: "{}")
        }
        var sent = EndorserRequest(
            endpoint: .plansChanged,
            body: Array(#"{"planIds":[]}"#.utf8),
            token: AccessToken(rawValue: "abc.def", expiresAt: nil),
            idempotencyKey: "k-1"
        )
        sent.requestID = "r-1"
        let exchange = await send(sent, to: try client(server, path: "//"))
        let request = try #require(await seen.next())
        #expect(request.line == "POST /api/v2/report/plansLastUpdatedBetween HTTP/1.1")
        #expect(request.header("Authorization") == "Bearer abc.def")
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("X-Idempotency-Key") == "k-1")
        #expect(request.header("X-Request-ID") == "r-1")
        #expect(request.header("X-Client-Version") == "starwatch/1.0")
        #expect(request.header("User-Agent") == "agent/1")
        #expect(request.body == #"{"planIds":[]}"#)
        #expect(exchange.report.result == .ok)
        #expect(text(try exchange.outcome.get()) == "{}")
    }

    @Test func getEncodesItsQueryAndHasNoBody() async throws {
        let server = try LoopbackServer.answering { answer(body: $0.head) }
        let exchange = await send(
            EndorserRequest(
                endpoint: .offersToMe,
                query: [("recipientDid", "did:ethr:0xA"), ("afterId", "0 &ü")],
                idempotencyKey: "unused"
            ),
            to: try client(server, path: "/base/")
        )
        let head = text(try exchange.outcome.get())
        #expect(
            head.hasPrefix(
                "GET /base/api/v2/report/offers?recipientDid=did%3Aethr%3A0xA&afterId=0%20%26%C3%BC HTTP/1.1\r\n"
            )
        )
        #expect(!head.contains("Authorization"))
        #expect(!head.contains("Content-Type"))
        #expect(!head.contains("Idempotency"))
    }

    @Test func reportContainsClockAndRateLimitHeaders() async throws {
        let server = try LoopbackServer.answering { _ in
            answer(
                "429 Too Many Requests",
                headers: [
                    "Date: Thu, 01 Jan 2026 00:00:00 GMT", "X-Server-Time: 1767225600", "Age: 3", "Retry-After: 7",
                    "x-rate-limit-remaining: 0", "RateLimit-Limit: 100", "X-RateLimit-Reset: 30",
                    "RateLimit: \"default\";r=0;t=30",
                ],
                body: #"{"error":"Rate limit exceeded"}"#
            )
        }
        let exchange = await send(EndorserRequest(endpoint: .time), to: try client(server))
        let report = exchange.report
        #expect(report.result == .rateLimited)
        #expect(report.status == 429)
        #expect(report.date == "Thu, 01 Jan 2026 00:00:00 GMT")
        #expect(report.serverTime == "1767225600")
        #expect(report.hasAge)
        #expect(report.rateLimitRemaining == "0")
        #expect(report.rateLimitReset == "30")
        #expect(report.rateLimit == "\"default\";r=0;t=30")
        #expect(report.duration > .zero)
        #expect(report.sentBytes > 0 && report.receivedBytes > 0)
        #expect(report.receivedAt == standingClock())
        #expect(failure(of: exchange.outcome)?.retryAfter == .seconds(7))
    }

    @Test func aResetWithoutARemainingNumberIsLeftOut() async throws {
        let server = try LoopbackServer.answering { _ in answer("200 OK", headers: ["RateLimit-Reset: 30"], body: "{}")
        }
        let report = await send(EndorserRequest(endpoint: .time), to: try client(server)).report
        #expect(report.rateLimitRemaining == nil && report.rateLimitReset == nil)
    }

    @Test func notModifiedIsASuccess() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 304 Not Modified\r\nETag: W/\"1\"\r\n\r\n")
        }
        let exchange = await send(EndorserRequest(endpoint: .offersToMe), to: try client(server))
        #expect(exchange.report.result == .notModified)
        #expect(try exchange.outcome.get().status == 304)
    }

    @Test func transportFailuresHaveTheirClass() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: String(repeating: "x", count: 1001)) }
        let large = await send(EndorserRequest(endpoint: .time), to: try client(server))
        #expect(failure(of: large.outcome)?.failureClass == .malformed)
        #expect(large.report.result == .tooLarge)
        #expect(large.report.status == nil)

        let closing = try LoopbackServer { _ = $0.readRequest() }
        let reset = await send(EndorserRequest(endpoint: .time), to: try client(closing))
        #expect(failure(of: reset.outcome)?.failureClass == .network)
        #expect(reset.report.result == .reset)
    }

    @Test func aTokenWithALineBreakIsNotSent() async throws {
        let requests = Tally()
        let server = try LoopbackServer.answering { _ in
            requests.add(1)
            return answer()
        }
        let exchange = await send(
            EndorserRequest(endpoint: .time, token: AccessToken(rawValue: "a\r\nX-B: c", expiresAt: nil)),
            to: try client(server)
        )
        #expect(failure(of: exchange.outcome)?.failureClass == .refused)
        #expect(requests.value == 0)
    }
}
