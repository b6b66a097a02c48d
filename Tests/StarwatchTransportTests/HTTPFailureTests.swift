import Foundation
import ProgramTestKit
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite(.timeLimit(.minutes(5))) struct HTTPFailureTests {
    private func outcome(
        maxResponseBytes: Int = 64 * 1024,
        timeout: Duration = longestWait,
        _ handler: @escaping @Sendable (LoopbackConnection) -> Void
    ) async throws -> APIFailure? {
        let server = try LoopbackServer(handler)
        let request = HTTPRequest(url: server.url(), timeout: timeout, maxResponseBytes: maxResponseBytes)
        return failure(of: await (try makeClient()).exchange(request).result)
    }

    @Test func drippingBodyTimesOutAndClosesTheConnection() async throws {
        let closed = Events(of: Bool.self)
        let error = try await outcome(timeout: .seconds(5)) { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
            while !connection.waitForClose(milliseconds: 10) {
                guard connection.write("x") else { break }
            }
            closed.report.yield(true)
        }
        #expect(error == .timeout)
        #expect(await closed.next() == true)
    }

    @Test func missingResponseTimesOut() async throws {
        let error = try await outcome(timeout: .seconds(5)) {
            _ = $0.readRequest(); _ = $0.waitForClose()
        }
        #expect(error == .timeout)
    }

    @Test func waitForASlotCountsTowardsTheTimeout() async throws {
        let begun = Events(of: Bool.self)
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            begun.report.yield(true)
            _ = connection.waitForClose()
        }
        let client = try makeClient(HTTPClientOptions(maxInFlight: 1)) {
            ClockReading(
                wall: Timestamp(seconds: 0),
                monotonic: .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds))
            )
        }
        async let first = client.exchange(HTTPRequest(url: server.url(), timeout: longestWait))
        _ = await begun.next()
        let second = await client.exchange(HTTPRequest(url: server.url(), timeout: .milliseconds(50)))
        #expect(failure(of: second.result) == .timeout)
        #expect(second.measurements.sentBytes == 0)
        client.shutdown()
        #expect(failure(of: await first.result) == .cancelled)
    }

    @Test func closedPortIsAConnectFailure() async throws {
        let url = "http://127.0.0.1:\(try FreePort.take())/"
        let result = await (try makeClient()).exchange(HTTPRequest(url: url)).result
        #expect(failure(of: result) == .connect)
    }

    @Test func unknownNameIsADNSFailure() async throws {
        // A label of more than 63 bytes fails in the resolver without a DNS query.
        let name = String(repeating: "a", count: 64) + ".invalid"
        let result = await (try makeClient()).exchange(HTTPRequest(url: "http://\(name)/")).result
        #expect(failure(of: result) == .dns)
    }

    @Test func connectionClosedEarlyIsAReset() async throws {
        let withoutAnswer = try await outcome { _ = $0.readRequest() }
        #expect(withoutAnswer == .reset)
        let withinBody = try await outcome {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        }
        #expect(withinBody == .reset)
        let withinChunks = try await outcome {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            $0.reset()
        }
        #expect(withinChunks == .reset)
    }

    @Test func responseOverTheLimitIsTooLarge() async throws {
        let announced = try await outcome(maxResponseBytes: 10) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n")
            _ = $0.waitForClose()
        }
        #expect(announced == .tooLarge)
        let chunked = try await outcome(maxResponseBytes: 10) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nabcdefgh\r\n3\r\nabc\r\n")
            _ = $0.waitForClose()
        }
        #expect(chunked == .tooLarge)
    }

    @Test func responseAtTheLimitIsAccepted() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: "0123456789") }
        let request = HTTPRequest(url: server.url(), maxResponseBytes: 10)
        #expect(text(try await makeClient().execute(request)) == "0123456789")
    }

    @Test func gzipBombIsLimitedByItsDecompressedSize() async throws {
        let bomb = [UInt8](try #require(Data(base64Encoded: Self.bomb)))
        #expect(bomb.count < 2000)
        let error = try await outcome {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
            $0.write(bomb)
            _ = $0.waitForClose()
        }
        #expect(error == .tooLarge)
    }

    @Test func responsesThatAreNotHTTPAreMalformed() async throws {
        let text = try await outcome {
            _ = $0.readRequest()
            $0.write("220 mail.example ESMTP\r\n")
        }
        #expect(text == .malformed)
        let encoding = try await outcome {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd")
        }
        #expect(encoding == .malformed)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1/", "", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: 1",
    ])
    func otherSchemesAndBrokenURLsAreNotSent(url: String) async throws {
        #expect(failure(of: await (try makeClient()).exchange(HTTPRequest(url: url)).result) == .invalidRequest)
    }

    @Test func anInvalidURLHasNothingOfTheRequestBefore() async throws {
        let server = try LoopbackServer.answering { _ in answer() }
        let client = try makeClient()
        #expect(await client.exchange(HTTPRequest(url: server.url())).status == 200)
        for url in ["http://127.0.0.1:99999/", "http://[::1/"] {
            let exchange = await client.exchange(HTTPRequest(url: url))
            #expect(failure(of: exchange.result) == .invalidRequest)
            #expect(exchange.status == nil && exchange.measurements.sentBytes == 0)
        }
        #expect(await client.exchange(HTTPRequest(url: server.url())).status == 200)
    }

    @Test(arguments: [("X-A", "1\r\nX-B: 2"), ("X A", "1"), ("", "1"), ("X-A", "\u{0}"), ("X-A", "é")])
    func headerInjectionIsNotSent(name: String, value: String) async throws {
        let requests = Tally()
        let server = try LoopbackServer.answering { _ in
            requests.add(1)
            return answer()
        }
        let request = HTTPRequest(url: server.url(), headers: [(name, value)])
        #expect(failure(of: await (try makeClient()).exchange(request).result) == .invalidRequest)
        #expect(requests.value == 0)
    }

    /// The characters of a token, by RFC 9110, section 5.6.2.
    @Test func aHeaderNameHasOnlyTheCharactersOfAToken() {
        let digits = (0...9).map { "\($0)" }.joined()
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let token = Set("!#$%&'*+-.^_`|~\(digits)\(letters)\(letters.uppercased())".utf8)
        for byte in UInt8.min..<0x80 {
            let name = "X" + String(UnicodeScalar(byte))
            let request = HTTPRequest(url: "http://127.0.0.1/", headers: [(name, "1")])
            #expect(request.isWellFormed == token.contains(byte), "\(byte)")
        }
    }

    /// The metrics and the retries depend on both.
    @Test(
        arguments: [
            (.timeout, .timeout, .timeout), (.dns, .dns, .network), (.connect, .connect, .network),
            (.proxy, .connect, .network), (.tls, .tls, .network), (.expired, .tls, .network),
            (.reset, .reset, .network),
            (.tooLarge, .tooLarge, .malformed), (.malformed, .malformed, .malformed),
            (.cancelled, .cancelled, .cancelled), (.invalidRequest, .badRequest, .refused),
            (.configuration("x"), .badRequest, .refused), (.peer, .badRequest, .refused),
            (.login, .badRequest, .refused),
            (.unencrypted, .tls, .refused), (APIFailure(.html), .html, .malformed),
            (APIFailure(.notJSON), .malformed, .malformed), (APIFailure(.tooComplex), .malformed, .malformed),
            (APIFailure(.rateLimit), .rateLimited, .rateLimited),
            (APIFailure(.identityChanged), .cancelled, .cancelled),
            (APIFailure(noToken: TokenError.poolEmpty), .badRequest, .unauthenticated),
            (APIFailure(noToken: TokenError.signingKeysUnreadable), .badRequest, .unauthenticated),
            (APIFailure(noToken: CancellationError()), .badRequest, .unauthenticated),
        ] as [(APIFailure, RequestResult, FailureClass)]
    )
    func everyCauseHasItsResultAndClass(failure: APIFailure, result: RequestResult, failureClass: FailureClass) {
        #expect(failure.result == result && failure.failureClass == failureClass)
    }

    @Test func everyErrorHasItsOwnSentence() {
        let all: [APIFailure] = [
            .timeout, .dns, .connect, .tls, .reset, .tooLarge, .cancelled, .malformed, .invalidRequest,
            .configuration("x"), .proxy, .expired, .peer, .login, .unencrypted,
        ]
        #expect(Set(all.map(\.reason)).count == all.count)
        #expect(all.allSatisfy { !$0.reason.isEmpty })
    }

    /// 1 MiB of zeros, compressed.
    private static let bomb =
        "H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfo" + String(repeating: "A", count: 1355) + "PgMc6jinAAAQAA=="
}
