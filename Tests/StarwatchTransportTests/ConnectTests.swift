import Foundation
import Glibc
import ProgramTestKit
import StarwatchCore
import Testing

@testable import StarwatchTransport

/// Connections to networks that drop packets instead of rejecting them.
@Suite(.timeLimit(.minutes(5))) struct ConnectTests {
    private func options(connectTimeout: Duration) -> HTTPClientOptions {
        var options = HTTPClientOptions()
        options.connectTimeout = connectTimeout
        return options
    }

    @Test func unansweredConnectFailsEarlyAsNetworkFailure() async throws {
        let listener = try FullListener()
        let client = try makeClient(options(connectTimeout: .seconds(2)))
        let exchange = await client.exchange(HTTPRequest(url: listener.url, timeout: .seconds(3600)))
        let error = failure(of: exchange.result)
        #expect(error == .connect)
        #expect(error?.failureClass == .network)
    }

    @Test func requestTimeoutCanBeShorter() async throws {
        let listener = try FullListener()
        let client = try makeClient(options(connectTimeout: .seconds(3600)))
        let exchange = await client.exchange(HTTPRequest(url: listener.url, timeout: .seconds(2)))
        #expect(failure(of: exchange.result) == .connect)
    }

    /// No packet is sent: the loopback device has no route to the address. Without its zone the address is invalid.
    @Test func aLinkLocalAddressKeepsItsZone() async throws {
        let client = try makeClient()
        func errno(_ host: String) async -> Int32? {
            await client.exchange(HTTPRequest(url: "http://[\(host)]:9/")).connectErrno
        }
        for _ in 0..<2 {
            #expect(await errno("fe80::1%25lo") == ENETUNREACH)
            #expect(await errno("fe80::1") == EINVAL)
        }
    }

    @Test func unansweredHandshakeIsANetworkFailure() async throws {
        let server = try LoopbackServer { _ = $0.waitForClose() }
        // Long enough for a busy machine to connect.
        let client = try makeClient(options(connectTimeout: .seconds(10)))
        let exchange = await client.exchange(
            HTTPRequest(url: "https://127.0.0.1:\(server.port)/", timeout: .seconds(3600))
        )
        #expect(failure(of: exchange.result) == .tls)
    }

    @Test func slowResponseOnAnOpenConnectionIsATimeout() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.write(answer(body: "first"))
            _ = connection.readRequest()
            _ = connection.waitForClose()
        }
        let client = try makeClient()
        #expect(text(try await client.execute(HTTPRequest(url: server.url()))) == "first")
        let second = await client.exchange(HTTPRequest(url: server.url(), timeout: .seconds(5)))
        #expect(failure(of: second.result) == .timeout)
    }

    /// In a process of its own, because the limit holds for all clients of a process.
    @Test func hangingLookupsOfEndedRequestsAreLimited() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer.answering { _ in answer(body: "here") }
            let named = HTTPRequest(url: "http://localhost:\(server.port)/", timeout: longestWait)
            let client = try makeClient()
            #expect(text(try await client.execute(named)) == "here")
            let hanging = HangingLookups(HTTPClientOptions().maxLookups)
            let limited = try makeClient()
            #expect(failure(of: await limited.exchange(named).result) == .dns)
            // Neither an IP address nor an open connection needs a lookup.
            #expect(text(try await limited.execute(HTTPRequest(url: server.url(), timeout: longestWait))) == "here")
            #expect(text(try await client.execute(named)) == "here")
            // A proxy looks up the names of servers itself.
            var throughProxy = HTTPClientOptions()
            throughProxy.proxy = server.url()
            let far = HTTPRequest(url: "http://server.test/", timeout: longestWait)
            #expect(text(try await makeClient(throughProxy).execute(far)) == "here")
            throughProxy.proxy = HTTPClientOptions.environmentProxy
            #expect(failure(of: try await makeClient(throughProxy).exchange(named).result) == .dns)
            hanging.release()
            // Lookups resume when the threads have ended.
            var result = await limited.exchange(named).result
            while failure(of: result) == .dns { result = await limited.exchange(named).result }
            #expect(text(try result.get()) == "here")
            withExtendedLifetime(server) {}
        }
    }
}

/// Threads started like libcurl's lookup threads, which run until they are released.
private final class HangingLookups: Sendable {
    private let condition = NSCondition()
    /// Guarded by `condition`.
    nonisolated(unsafe) private var isReleased = false

    /// Starts the threads and waits until all of them run.
    init(_ count: Int) {
        let begun = DispatchSemaphore(value: 0)
        // Like the driver's thread, it has the lookup name while it starts them.
        Thread.detachNewThread { [self] in
            let names = LookupThreads(limit: .max)
            _ = names.begin("http://localhost/")
            for _ in 0..<count {
                Thread.detachNewThread { [self] in
                    begun.signal()
                    condition.withLock { while !isReleased { condition.wait() } }
                }
            }
            names.nameDriver()
            begun.signal()
        }
        for _ in 0...count { begun.wait() }
    }

    func release() {
        condition.withLock {
            isReleased = true
            condition.broadcast()
        }
    }
}

/// A listener with a full queue, which leaves new connections unanswered.
private final class FullListener {
    let url: String
    private var sockets: [Int32] = []

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        sockets.append(listener)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        for _ in 0..<4 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            sockets.append(client)
            withUnsafePointer(to: &address) {
                _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, length) }
            }
        }
    }

    deinit { for socket in sockets { close(socket) } }
}
