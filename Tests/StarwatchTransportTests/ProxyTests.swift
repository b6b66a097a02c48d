import Foundation
import ProgramTestKit
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

/// Requests through a proxy, which opens a tunnel to the server.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    /// A proxy that notes what it is asked for and opens no tunnel.
    private final class Proxy: Sendable {
        let heads = Mutex<[String]>([])

        func start() throws -> LoopbackServer {
            try LoopbackServer.answering { [self] request in
                heads.withLock { $0.append(request.head) }
                return "HTTP/1.1 403 Forbidden\r\nX-Of-The-Proxy: 1\r\nContent-Length: 0\r\n\r\n"
            }
        }
    }

    @Test func aRequestOfATokenGoesToTheProxyAsATunnelWithoutTheToken() async throws {
        let proxy = Proxy()
        let server = try proxy.start()
        var options = HTTPClientOptions().patient
        options.proxy = "http://127.0.0.1:\(server.port)"
        let client = try makeClient(options)
        let request = HTTPRequest(
            url: "https://server.test/path",
            headers: [("Authorization", "Bearer CANARY")],
            timeout: longestWait
        )
        let exchange = await client.exchange(request)
        // The refusal is the proxy's, and is not taken for the server's answer.
        #expect(failure(of: exchange.result) == .proxy)
        #expect(exchange.status == nil)
        let heads = proxy.heads.withLock { $0 }
        #expect(heads.count == 1, "\(String(describing: failure(of: exchange.result)))")
        #expect(heads.first?.hasPrefix("CONNECT server.test:443 HTTP/1.1") == true)
        #expect(heads.first?.contains("CANARY") == false)
        withExtendedLifetime(server) {}
    }

    @Test func aLoginIsForTheProxyAlone() async throws {
        let proxy = Proxy()
        let server = try proxy.start()
        let target = try LoopbackServer.answering { answer(body: $0.head) }
        var options = HTTPClientOptions().patient
        options.proxy = "http://127.0.0.1:\(server.port)"
        options.proxyLogin = ProxyLogin(Array("me@work:pass:w%rd".utf8))
        let client = try makeClient(options)
        let far = await client.exchange(HTTPRequest(url: "https://server.test/path", timeout: longestWait))
        #expect(failure(of: far.result) != nil)
        let heads = proxy.heads.withLock { $0 }
        let login = "Basic " + Data("me@work:pass:w%rd".utf8).base64EncodedString()
        #expect(heads.contains { $0.contains("\r\nProxy-Authorization: \(login)") }, "\(heads)")
        // A request to this machine passes by the proxy.
        let near = text(try await client.execute(HTTPRequest(url: target.url(), timeout: longestWait)))
        #expect(!near.contains("Authorization"))
        let shown = String(reflecting: options) + "\(options.proxyLogin as Any)"
        #expect(!shown.contains("me@work") && !shown.contains("pass"))
        withExtendedLifetime((server, target)) {}
    }

    @Test func aRequestToThisMachineNeedsNoProxy() async throws {
        let proxy = Proxy()
        let server = try proxy.start()
        let target = try LoopbackServer.answering { _ in "HTTP/1.1 204 No Content\r\n\r\n" }
        var options = HTTPClientOptions().patient
        options.proxy = "http://127.0.0.1:\(server.port)"
        let exchange = await (try makeClient(options)).exchange(HTTPRequest(url: target.url(), timeout: longestWait))
        #expect(exchange.status == 204)
        let heads = proxy.heads.withLock { $0 }
        #expect(heads.isEmpty)
        withExtendedLifetime((server, target)) {}
    }
}
