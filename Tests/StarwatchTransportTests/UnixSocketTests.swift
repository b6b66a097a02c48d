import CCurl
import Foundation
import Glibc
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

/// Requests over a Unix socket, without a time limit, and answers that are taken piece by piece.
@Suite(.timeLimit(.minutes(5)))
struct UnixSocketTests {
    private func withSocket(
        _ handler: @escaping @Sendable (LoopbackConnection) -> Void,
        acceptsPeer: (@Sendable (UInt32?) -> Bool)? = nil,
        _ body: (HTTPClient) async throws -> Void
    ) async throws {
        let folder =
            FileManager.default.temporaryDirectory.path + "/sw-" + String(UInt64.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try LoopbackServer(socketPath: folder + "/s.sock", handler)
        var options = HTTPClientOptions(socketPath: folder + "/s.sock")
        options.keepsConnections = false
        options.acceptsPeer = acceptsPeer
        try await body(try makeClient(options))
        withExtendedLifetime(server) {}
    }

    @Test func theSocketIsUsedWhateverHostTheURLNames() async throws {
        try await withSocket { connection in
            while let request = connection.readRequest() {
                connection.write(answer(body: request.line + "|" + (request.header("host") ?? "") + "|" + request.body))
            }
        } _: { client in
            let get = try await client.execute(HTTPRequest(url: "http://nowhere.example/a?b=c", timeout: nil))
            #expect(text(get) == "GET /a?b=c HTTP/1.1|nowhere.example|")
            let post = HTTPRequest(method: .post, url: "http://localhost/", body: Array("x".utf8), timeout: nil)
            #expect(text(try await client.execute(post)) == "POST / HTTP/1.1|localhost|x")
        }
    }

    @Test func nothingIsSentToAProgramOfAUserThatIsNotAccepted() async throws {
        let requests = Tally()
        let asked = Mutex<[UInt32?]>([])
        for isAccepted in [true, false] {
            try await withSocket { connection in
                while connection.readRequest() != nil {
                    requests.add(1)
                    connection.write(answer())
                }
            } acceptsPeer: { user in
                asked.withLock { $0.append(user) }
                return isAccepted
            } _: { client in
                let exchange = await client.exchange(HTTPRequest(url: "http://localhost/", timeout: nil))
                #expect(failure(of: exchange.result) == (isAccepted ? nil : .peer))
            }
        }
        #expect(requests.value == 1)
        #expect(asked.withLock { $0 } == [geteuid(), geteuid()])
    }

    @Test func anIdleHandlePointsToNoTransfer() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: "late") }
        let options = HTTPClientOptions()
        let sockets = try #require(SocketPoller())
        defer { sockets.shutdown() }
        let anchors = try TrustAnchors(options)
        let easy = try #require(CurlHandle.make(options: options, anchors: anchors, sockets: sockets))
        defer { curl_easy_cleanup(easy) }
        let transfer: CurlTransfer = await withCheckedContinuation { made in
            Task {
                _ = await withCheckedContinuation { (continuation: CheckedContinuation<HTTPExchange, Never>) in
                    let transfer = CurlTransfer(
                        id: 1,
                        request: HTTPRequest(url: server.url()),
                        submittedAt: standingClock(),
                        inbox: CurlInbox {},
                        lookups: LookupThreads(limit: 1),
                        acceptsPeer: nil,
                        continuation: continuation
                    )
                    made.resume(returning: transfer)
                }
            }
        }
        _ = CurlHandle.prepare(easy, for: transfer, options: options, timeout: .seconds(30))
        _ = CurlHandle.release(easy, of: transfer)
        #expect(curl_easy_perform(easy) == CURLE_OK)
        #expect(!transfer.isHeadComplete)
        let measurements = HTTPMeasurements(sentAt: standingClock(), receivedAt: standingClock())
        transfer.continuation.resume(returning: HTTPExchange(result: .failure(.cancelled), measurements: measurements))
        withExtendedLifetime(server) {}
    }

    @Test(arguments: [true, false]) func aConnectionIsKeptOnlyWhereItIsWanted(isKept: Bool) async throws {
        let connections = Tally()
        let server = try LoopbackServer { connection in
            connections.add(1)
            while connection.readRequest() != nil { connection.write(answer()) }
        }
        var options = HTTPClientOptions()
        options.keepsConnections = isKept
        let client = try makeClient(options)
        for _ in 0..<3 { _ = try await client.execute(HTTPRequest(url: server.url())) }
        #expect(connections.value == (isKept ? 1 : 3))
    }

    @Test func aSocketThatNobodyListensOnSaysWhy() async throws {
        let client = try makeClient(HTTPClientOptions(socketPath: "/nowhere/s.sock"))
        let exchange = await client.exchange(HTTPRequest(url: "http://localhost/", timeout: nil))
        #expect(failure(of: exchange.result) == .connect)
        #expect(exchange.connectErrno == ENOENT)
    }

    @Test func withoutATimeLimitOthersAtTheLimitOfPlacesWait() async throws {
        let server = try LoopbackServer.answering { answer(body: $0.line) }
        let client = try makeClient(HTTPClientOptions(maxInFlight: 1))
        let url = server.url("/a")
        let lines = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<8 {
                group.addTask { (try? await client.execute(HTTPRequest(url: url, timeout: nil))).map(text) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(lines == Array(repeating: "GET /a HTTP/1.1", count: 8))
    }

    @Test func piecesComeBeforeTheEndAndHaveNoSizeLimit() async throws {
        let isRead = DispatchSemaphore(value: 0)
        try await withSocket { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            // The second piece is not sent before the first one is taken.
            isRead.wait()
            connection.write("3\r\ntwo\r\n0\r\n\r\n")
        } _: { client in
            var request = HTTPRequest(url: "http://localhost/", timeout: nil, maxResponseBytes: 4)
            let pieces = Mutex<[String]>([])
            request.onBody = { piece in
                let isFirst = pieces.withLock { pieces in
                    pieces.append(String(decoding: piece, as: UTF8.self))
                    return pieces.count == 1
                }
                if isFirst { isRead.signal() }
            }
            let response = try await client.execute(request)
            #expect(response.body.isEmpty)
            #expect(pieces.withLock { $0.joined() } == "onetwo")
        }
    }

    @Test func theBodyOfARefusalIsNotTakenPieceByPiece() async throws {
        try await withSocket { connection in
            while connection.readRequest() != nil { connection.write(answer("503 Busy", body: "later")) }
        } _: { client in
            var request = HTTPRequest(url: "http://localhost/", timeout: nil)
            let count = Mutex(0)
            request.onBody = { _ in count.withLock { $0 += 1 } }
            let response = try await client.execute(request)
            #expect(text(response) == "later")
            #expect(count.withLock { $0 } == 0)
        }
    }

    @Test func aStreamThatIsCutOffIsAReset() async throws {
        try await withSocket { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        } _: { client in
            var request = HTTPRequest(url: "http://localhost/", timeout: nil)
            request.onBody = { _ in }
            #expect(failure(of: await client.exchange(request).result) == .reset)
        }
    }
}
