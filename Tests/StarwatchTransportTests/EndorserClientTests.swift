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
        token: AccessToken? = nil,
        to client: EndorserClient
    ) async -> HTTPExchange {
        await client.send(request, token: token, id: "r-1")
    }

    private func request(_ endpoint: Endpoint, _ method: HTTPRequest.Method = .get) -> EndorserRequest {
        EndorserRequest(endpoint, method, of: nil, runID: "run_of_the_test")
    }

    @Test func postHasAllRequiredHeaders() async throws {
        let seen = Events(of: LoopbackRequest.self)
        let server = try LoopbackServer.answering {
            seen.report.yield($0)
            return answer(body: "{}")
        }
        var sent = request(.plansChanged, .post)
        (sent.body, sent.idempotencyKey) = (Array(#"{"planIds":[]}"#.utf8), "k-1")
        let token = AccessToken(rawValue: "abc.def", expiresAt: nil)
        let exchange = await send(sent, token: token, to: try client(server, path: "//"))
        let received = try #require(await seen.next())
        #expect(received.line == "POST /api/v2/report/plansLastUpdatedBetween HTTP/1.1")
        #expect(received.header("Authorization") == "Bearer abc.def")
        #expect(received.header("Content-Type") == "application/json")
        #expect(received.header("Accept") == "application/json")
        #expect(received.header("X-Idempotency-Key") == "k-1")
        #expect(received.header("X-Request-ID") == "r-1")
        #expect(received.header("X-Client-Version") == "starwatch/1.0")
        #expect(received.header("User-Agent") == "agent/1")
        #expect(received.body == #"{"planIds":[]}"#)
        #expect(exchange.result(nil) == .ok)
        #expect(text(try exchange.answer.get()) == "{}")
    }

    @Test func getEncodesItsQueryAndHasNoBody() async throws {
        let server = try LoopbackServer.answering { answer(body: $0.head) }
        var sent = request(.offersToMe)
        (sent.query, sent.idempotencyKey) = ([("recipientDid", "did:ethr:0xA"), ("afterId", "0 &ü")], "unused")
        let exchange = await send(sent, to: try client(server, path: "/base/"))
        let head = text(try exchange.answer.get())
        #expect(
            head.hasPrefix(
                "GET /base/api/v2/report/offers?recipientDid=did%3Aethr%3A0xA&afterId=0%20%26%C3%BC HTTP/1.1\r\n"
            )
        )
        #expect(!head.contains("Authorization"))
        #expect(!head.contains("Content-Type"))
        #expect(!head.contains("Idempotency"))
    }

    @Test func aRejectionHasTheTimesAndTheLimitsOfTheServer() async throws {
        let server = try LoopbackServer.answering { _ in
            answer(
                "429 Too Many Requests",
                headers: ["Date: Thu, 01 Jan 2026 00:00:00 GMT", "Retry-After: 7", "x-rate-limit-remaining: 0"],
                body: #"{"error":"Rate limit exceeded"}"#
            )
        }
        let exchange = await send(request(.time), to: try client(server))
        #expect(failure(of: exchange.answer)?.retryAfter == .seconds(7))
        #expect(exchange.result(failure(of: exchange.answer)) == .rateLimited)
        #expect(exchange.response?.status == 429)
        #expect(exchange.response?.headers.rateLimit(.remaining) == "0")
        let measurements = exchange.measurements
        #expect(measurements.total > .zero && measurements.sentBytes > 0 && measurements.receivedBytes > 0)
        #expect(measurements.receivedAt == standingClock())
    }

    @Test func notModifiedIsASuccess() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 304 Not Modified\r\nETag: W/\"1\"\r\n\r\n")
        }
        let exchange = await send(request(.offersToMe), to: try client(server))
        #expect(exchange.result(nil) == .notModified)
        #expect(try exchange.answer.get().status == 304)
    }

    @Test func transportFailuresHaveTheirClass() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: String(repeating: "x", count: 1001)) }
        let large = await send(request(.time), to: try client(server))
        #expect(failure(of: large.answer)?.failureClass == .malformed)
        #expect(failure(of: large.answer)?.result == .tooLarge)
        #expect(large.response == nil)

        let closing = try LoopbackServer { _ = $0.readRequest() }
        let reset = await send(request(.time), to: try client(closing))
        #expect(failure(of: reset.answer)?.failureClass == .network)
        #expect(failure(of: reset.answer)?.result == .reset)
    }

    @Test func aTokenWithALineBreakIsNotSent() async throws {
        let requests = Tally()
        let server = try LoopbackServer.answering { _ in
            requests.add(1)
            return answer()
        }
        let token = AccessToken(rawValue: "a\r\nX-B: c", expiresAt: nil)
        let exchange = await send(request(.time), token: token, to: try client(server))
        #expect(failure(of: exchange.answer)?.failureClass == .refused)
        #expect(requests.value == 0)
    }
}
