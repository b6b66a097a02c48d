import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct HTTPCancellationTests {
    /// A server that reports the arrival of a request and the end of its connection.
    private struct SilentServer {
        let server: LoopbackServer
        let requests = Events(of: Bool.self)
        let closes = Events(of: Bool.self)

        init() throws {
            server = try LoopbackServer { [requests, closes] connection in
                guard connection.readRequest() != nil else { return }
                requests.report.yield(true)
                closes.report.yield(connection.waitForClose())
            }
        }
    }

    @Test func cancellingTheTaskClosesTheConnection() async throws {
        let silent = try SilentServer()
        let client = try makeClient()
        let url = silent.server.url()
        await withTaskGroup(of: APIFailure?.self) { group in
            group.addTask { failure(of: await client.exchange(HTTPRequest(url: url, timeout: .seconds(600))).result) }
            _ = await silent.requests.next()
            group.cancelAll()
            #expect(await group.next() == .some(.cancelled))
        }
        #expect(await silent.closes.next() == true)
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        let requests = Tally()
        let server = try LoopbackServer.answering { _ in
            requests.add(1)
            return answer()
        }
        let client = try makeClient()
        let url = server.url()
        await withTaskGroup(of: APIFailure?.self) { group in
            group.cancelAll()
            group.addTask { failure(of: await client.exchange(HTTPRequest(url: url)).result) }
            #expect(await group.next() == .some(.cancelled))
        }
        #expect(requests.value == 0)
    }

    @Test func cancellingOneRequestKeepsTheOthers() async throws {
        let silent = try SilentServer()
        let good = try LoopbackServer.answering { answer(body: $0.line) }
        let client = try makeClient()
        let (silentURL, goodURL) = (silent.server.url(), good.url("/good"))
        await withTaskGroup(of: APIFailure?.self) { group in
            group.addTask { failure(of: await client.exchange(HTTPRequest(url: silentURL)).result) }
            _ = await silent.requests.next()
            for _ in 0..<20 {
                #expect((try? await client.execute(HTTPRequest(url: goodURL))).map(text) == "GET /good HTTP/1.1")
            }
            group.cancelAll()
            #expect(await group.next() == .some(.cancelled))
        }
    }

    @Test func aWaitingRequestCanBeCancelled() async throws {
        let silent = try SilentServer()
        let client = try makeClient(HTTPClientOptions(maxInFlight: 1))
        let url = silent.server.url()
        async let first = client.exchange(HTTPRequest(url: url))
        _ = await silent.requests.next()
        await withTaskGroup(of: APIFailure?.self) { group in
            group.addTask { failure(of: await client.exchange(HTTPRequest(url: url)).result) }
            group.cancelAll()
            #expect(await group.next() == .some(.cancelled))
        }
        client.shutdown()
        #expect(failure(of: await first.result) == .cancelled)
    }

    @Test func shutdownCancelsCurrentAndLaterRequests() async throws {
        let silent = try SilentServer()
        let client = try makeClient()
        let url = silent.server.url()
        async let first = client.exchange(HTTPRequest(url: url))
        _ = await silent.requests.next()
        client.shutdown()
        #expect(failure(of: await first.result) == .cancelled)
        #expect(await silent.closes.next() == true)
        #expect(failure(of: await client.exchange(HTTPRequest(url: url)).result) == .cancelled)
        client.shutdown()
    }

    @Test func manyCancellationsEndEachRequestOnce() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: "x") }
        let client = try makeClient(HTTPClientOptions(maxInFlight: 16))
        let url = server.url()
        let ended = await withTaskGroup(of: Int.self) { group in
            for round in 0..<50 {
                group.addTask {
                    await withTaskGroup(of: Int.self) { inner in
                        for _ in 0..<8 {
                            inner.addTask {
                                let result = await client.exchange(HTTPRequest(url: url)).result
                                return failure(of: result) == nil || failure(of: result) == .cancelled ? 1 : 0
                            }
                        }
                        var count = 0
                        for _ in 0..<round % 8 { count += await inner.next() ?? 0 }
                        inner.cancelAll()
                        return await inner.reduce(count, +)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(ended == 400)
        #expect((try? await client.execute(HTTPRequest(url: url))).map(text) == "x")
    }
}
