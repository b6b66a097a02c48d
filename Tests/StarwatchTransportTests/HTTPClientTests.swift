import Foundation
import ProgramTestKit
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

@Suite struct HTTPClientTests {
    @Test func librariesOfCurlAreListed() {
        let parts = CurlVersion.parse("libcurl/7.88.1 OpenSSL/3.0.19 libpsl/0.21.2 (+libidn2/2.3.3) alt-svc")
        #expect(parts.map(\.name) == ["libcurl", "OpenSSL", "libpsl"])
        #expect(parts.map(\.version) == ["7.88.1", "3.0.19", "0.21.2"])
        #expect(CurlVersion.current?.first?.isNumber == true)
    }

    @Test func responseHasStatusHeadersAndBody() async throws {
        let server = try LoopbackServer.answering { _ in
            answer("404 Not Found", headers: ["X-Thing:  a b "], body: "gone")
        }
        let response = try await makeClient().execute(HTTPRequest(url: server.url()))
        #expect(response.status == 404)
        #expect(response.headers["x-tHING"] == "a b")
        #expect(response.headers["X-Thin"] == nil)
        #expect(text(response) == "gone")
    }

    @Test func postSendsItsBodyAndOnlyTheGivenHeaders() async throws {
        let server = try LoopbackServer.answering { request in answer(body: request.head + "|" + request.body) }
        let request = HTTPRequest(
            method: .post,
            url: server.url("/a?b=c"),
            headers: [("X-One", "1"), ("X-Empty", "")],
            body: Array("hello".utf8)
        )
        let echo = text(try await makeClient().execute(request))
        #expect(echo.hasPrefix("POST /a?b=c HTTP/1.1\r\n"))
        #expect(echo.contains("\r\nX-One: 1\r\n"))
        #expect(echo.contains("X-Empty:"))
        #expect(echo.hasSuffix("|hello"))
        #expect(!echo.contains("Expect:"))
        #expect(!echo.contains("Content-Type:"))
        #expect(!echo.contains("User-Agent:"))
    }

    @Test(arguments: [nil, [UInt8]()]) func postWithoutBodyHasContentLengthZero(body: [UInt8]?) async throws {
        let server = try LoopbackServer.answering { answer(body: $0.header("Content-Length") ?? "none") }
        let client = try makeClient()
        let response = try await client.execute(HTTPRequest(method: .post, url: server.url(), body: body))
        #expect(text(response) == "0")
    }

    @Test func getAfterPostOnTheSameHandleHasNoBody() async throws {
        let server = try LoopbackServer.answering { answer(body: $0.line + "|" + $0.body) }
        let client = try makeClient()
        _ = try await client.execute(HTTPRequest(method: .post, url: server.url(), body: Array("x".utf8)))
        #expect(text(try await client.execute(HTTPRequest(url: server.url("/2")))) == "GET /2 HTTP/1.1|")
    }

    /// Otherwise a client that never pauses would never ask for the server's address again.
    @Test(.timeLimit(.minutes(5))) func aBusyConnectionEndsAtItsLongestLife() async throws {
        #expect(HTTPClientOptions().longestConnectionSeconds == 90)
        let connections = Mutex(0)
        let server = try LoopbackServer { connection in
            connections.withLock { $0 += 1 }
            while connection.readRequest() != nil, connection.write(answer(body: "")) {}
        }
        var options = HTTPClientOptions().patient
        options.longestConnectionSeconds = 1
        let client = try makeClient(options)
        while connections.withLock({ $0 }) < 2 { _ = try await client.execute(HTTPRequest(url: server.url())) }
        withExtendedLifetime(server) {}
    }

    @Test func concurrentRequestsGetTheirOwnResponses() async throws {
        let server = try LoopbackServer.answering { answer(body: $0.line) }
        let client = try makeClient()
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let response = try? await client.execute(HTTPRequest(url: server.url("/\(index)")))
                    return response.map(text) != "GET /\(index) HTTP/1.1"
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
    }

    @Test func requestsOfSeveralHandlesGoSideBySideAndFindTheirConnectionsAgain() async throws {
        let barrier = Barrier(of: 5)
        let server = try LoopbackServer.answering { _ in
            barrier.wait()
            return answer()
        }
        var options = HTTPClientOptions()
        options.requestsPerHandle = 2
        let client = try makeClient(options)
        for isNew in [true, false] {
            let found = await withTaskGroup(of: Bool?.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        let exchange = await client.exchange(HTTPRequest(url: server.url(), timeout: longestWait))
                        return failure(of: exchange.result) == nil ? exchange.measurements.isNewConnection : nil
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found == Array(repeating: isNew, count: 5))
        }
    }

    @Test func secondRequestReusesTheConnection() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: "12345") }
        let client = try makeClient()
        let first = await client.exchange(HTTPRequest(url: server.url())).measurements
        let second = await client.exchange(HTTPRequest(url: server.url())).measurements
        #expect(first.isNewConnection)
        #expect(first[.connect] > .zero)
        #expect(!second.isNewConnection)
        #expect(second[.dns] == .zero && second[.connect] == .zero && second[.tls] == .zero)
        #expect(second[.firstByte] > .zero)
        #expect(second.total >= second[.firstByte])
    }

    @Test(arguments: [0, 300, 60_000, 200_000]) func byteCountsMatchTheWire(size: Int) async throws {
        let seen = Events(of: Int.self)
        let reply = answer(body: "12345")
        let server = try LoopbackServer.answering { request in
            seen.report.yield(request.head.utf8.count + 4 + request.body.utf8.count)
            return reply
        }
        let client = try makeClient()
        let body = [UInt8](repeating: 65, count: size)
        let measurements = await client.exchange(HTTPRequest(method: .post, url: server.url(), body: body)).measurements
        #expect(await seen.next() == measurements.sentBytes)
        #expect(measurements.receivedBytes == reply.utf8.count)
    }

    @Test func methodsDoNotAffectTheNextRequestOnTheConnection() async throws {
        let seen = Events(of: LoopbackRequest.self)
        let server = try LoopbackServer.answering { request in
            seen.report.yield(request)
            return answer()
        }
        let client = try makeClient()
        for method in [HTTPRequest.Method.put, .get, .delete, .get, .put, .post, .delete, .post] {
            _ = await client.exchange(HTTPRequest(method: method, url: server.url("/a"), body: Array("body".utf8)))
            let request = try #require(await seen.next())
            #expect(request.line == "\(method.rawValue) /a HTTP/1.1")
            #expect(request.body == (method == .put || method == .post ? "body" : ""))
        }
    }

    @Test func everyRequestGoesToItsOwnURL() async throws {
        let servers = try ["first", "second"].map { name in
            try LoopbackServer.answering { answer(body: name + " " + $0.line) }
        }
        let client = try makeClient()
        for (server, path) in [(0, "/a"), (1, "/a"), (0, "/a"), (0, "/a?b=%C3%A9"), (0, "/a"), (1, "/b;c")] {
            let answer = try await client.execute(HTTPRequest(url: servers[server].url(path)))
            #expect(text(answer) == "\(["first", "second"][server]) GET \(path) HTTP/1.1")
        }
        // Equal for Unicode, but not the same bytes.
        for (path, bytes) in [("/\u{E9}", "/%c3%a9"), ("/e\u{301}", "/e%cc%81")] {
            let answer = try await client.execute(HTTPRequest(url: servers[0].url(path)))
            #expect(text(answer) == "first GET \(bytes) HTTP/1.1")
        }
    }

    @Test func timesComeFromTheInjectedClock() async throws {
        let server = try LoopbackServer.answering { _ in answer() }
        let measurements = await (try makeClient()).exchange(HTTPRequest(url: server.url())).measurements
        #expect(measurements.receivedAt == standingClock())
        #expect(measurements.sentAt.monotonic < measurements.receivedAt.monotonic)
        #expect(measurements.receivedAt.monotonic - measurements.sentAt.monotonic <= measurements.total)
    }

    @Test func gzipIsRequestedAndDecompressed() async throws {
        let server = try LoopbackServer { connection in
            guard let request = connection.readRequest(), request.header("Accept-Encoding") == "gzip" else { return }
            let body = Data(base64Encoded: "H4sIAAAAAAACA6tWys9WsiopKk2tBQCQX9SnCwAAAA==")!
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n")
            connection.write(Array(body))
            _ = connection.waitForClose()
        }
        #expect(text(try await makeClient().execute(HTTPRequest(url: server.url()))) == #"{"ok":true}"#)
    }

    @Test func interimResponsesAndTrailersAddNoHeaders() async throws {
        let server = try LoopbackServer.answering { _ in
            "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Real: 1\r\n\r\n2\r\nok\r\n0\r\nX-Late: 1\r\n\r\n"
        }
        let response = try await makeClient().execute(HTTPRequest(url: server.url()))
        #expect(response.headers["X-Real"] == "1")
        #expect(response.headers["X-Early"] == nil)
        #expect(response.headers["X-Late"] == nil)
        #expect(text(response) == "ok")
    }

    @Test func redirectsAreNotFollowed() async throws {
        let requests = Tally()
        let server = try LoopbackServer.answering { _ in
            requests.add(1)
            return answer("302 Found", headers: ["Location: /elsewhere"])
        }
        let response = try await makeClient().execute(HTTPRequest(url: server.url()))
        #expect(response.status == 302)
        #expect(requests.value == 1)
    }

    @Test func concurrentRequestsAreLimited() async throws {
        let underWay = Tally()
        let server = try LoopbackServer { connection in
            while connection.readRequest() != nil {
                underWay.add(1)
                _ = connection.waitForClose(milliseconds: 5)
                underWay.add(-1)
                connection.write(answer())
            }
        }
        let client = try makeClient(HTTPClientOptions(maxInFlight: 3))
        let good = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<30 {
                group.addTask { (try? await client.execute(HTTPRequest(url: server.url()))) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 30)
        #expect(underWay.peak <= 3)
    }

    @Test func connectionClosedByTheServerIsReplacedTransparently() async throws {
        let server = try LoopbackServer { connection in
            connection.write(answer(body: connection.readRequest()?.line ?? ""))
        }
        let client = try makeClient()
        for path in ["/a", "/b", "/b", "/a"] {
            #expect(text(try await client.execute(HTTPRequest(url: server.url(path)))) == "GET \(path) HTTP/1.1")
        }
    }

    /// An event disarms its socket. If it were not armed again, only the timeout would end the second wait.
    @Test func eachPieceOfABodyIsReadWhenItComes() async throws {
        let arrived = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            for digit in 1...5 {
                connection.write("\(digit)")
                arrived.wait()
            }
        }
        var options = HTTPClientOptions()
        // libcurl looks at its sockets at each of its timers, so that none may be before the timeout.
        options.connectTimeout = longestWait * 2
        let pieces = Mutex<[UInt8]>([])
        var request = HTTPRequest(url: server.url(), timeout: longestWait)
        request.onBody = { piece in
            pieces.withLock { $0 += piece }
            arrived.signal()
        }
        let exchange = await (try makeClient(options)).exchange(request)
        for _ in 1...5 { arrived.signal() }
        #expect(failure(of: exchange.result) == nil)
        #expect(String(decoding: pieces.withLock { $0 }, as: UTF8.self) == "12345")
    }
}

/// Lets threads pass together, when as many have come as it is for.
///
/// `@unchecked Sendable` because `condition` guards `come`.
private final class Barrier: @unchecked Sendable {
    private let condition = NSCondition()
    private let size: Int
    private var come = 0

    init(of size: Int) { self.size = size }

    func wait() {
        condition.lock()
        defer { condition.unlock() }
        come += 1
        let last = (come + size - 1) / size * size
        while come < last { condition.wait() }
        condition.broadcast()
    }
}
