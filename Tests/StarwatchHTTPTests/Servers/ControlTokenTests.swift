import Glibc
import NIOHTTP1
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite(.timeLimit(.minutes(5)))
struct ControlTokenTests {
    private struct Unreadable: Error {}

    private func reload(
        _ headers: HTTPHeaders,
        token: @escaping @Sendable () async throws -> String = { "s3cret" }
    ) async throws -> (reply: HTTPProbe.Reply, calls: [String]) {
        let agent = FakeAgent()
        let server = try HTTPServer(agent: agent, listen: "127.0.0.1:0", token: token, logger: quiet)
        let reply = try await withRunning(server) {
            try await HTTPProbe(address: $0).send(.POST, "/api/v1/reload", headers)
        }
        return (reply, agent.now.calls)
    }

    @Test(arguments: ["Bearer s3cret", "bearer s3cret"])
    func whoHasTheTokenMay(authorization: String) async throws {
        let (reply, calls) = try await reload(["Authorization": authorization])
        #expect(reply.status == 200)
        #expect(calls == ["POST /api/v1/reload"])
    }

    @Test(arguments: ["", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cretx", "Bearer S3cret", "Basic s3cret"])
    func whoHasNotMayNot(authorization: String) async throws {
        let (reply, calls) = try await reload(["Authorization": authorization])
        #expect(reply.status == 401)
        #expect(reply.headers["WWW-Authenticate"] == ["Bearer"])
        #expect(!reply.text.contains("s3cret"))
        #expect(calls.isEmpty)
    }

    @Test func theJournalLearnsWhoAsked() async throws {
        let agent = FakeAgent()
        let server = try HTTPServer(agent: agent, listen: "127.0.0.1:0", token: { "s3cret" }, logger: quiet)
        _ = try await withRunning(server) {
            try await HTTPProbe(address: $0).send(.POST, "/api/v1/reload", ["Authorization": "Bearer s3cret"])
        }
        #expect(agent.now.callers == [Operator(.port, "token")])
        let other = FakeAgent()
        try await withControl(other) { _, client in _ = try await client.perform(ControlAPI.reload) }
        #expect(other.now.callers == [.user(geteuid(), by: .socket)])
    }

    @Test func aCookieIsNoToken() async throws {
        let (reply, _) = try await reload(["Cookie": "token=s3cret; Authorization=Bearer s3cret"])
        #expect(reply.status == 401)
        #expect(reply.headers["Set-Cookie"].isEmpty)
    }

    /// Each byte counts, wherever it stands, and all are looked at before there is an answer.
    @Test func tokensAreComparedByteByByte() {
        let token = Array("a token of some length".utf8)
        #expect(token.isEqual(toSecret: token))
        #expect([UInt8]().isEqual(toSecret: []))
        for index in token.indices {
            for bit in 0..<8 {
                var other = token
                other[index] ^= 1 << UInt8(bit)
                #expect(!token.isEqual(toSecret: other))
            }
            #expect(!token.isEqual(toSecret: Array(token[..<index])))
        }
    }

    @Test func anEmptyTokenLetsNobodyIn() async throws {
        #expect(try await reload(["Authorization": "Bearer "], token: { "" }).reply.status == 401)
    }

    @Test func aTokenThatCannotBeReadLetsNobodyIn() async throws {
        let (reply, calls) = try await reload(["Authorization": "Bearer s3cret"], token: { throw Unreadable() })
        #expect(reply.status == 500)
        #expect(calls.isEmpty)
    }

    @Test(arguments: ["localhost", "LOCALHOST:9465", "127.0.0.1:1", "[::1]:9465", "10.1.2.3"])
    func addressesAndLocalhostAreOurHosts(host: String) async throws {
        #expect(try await reload(["Authorization": "Bearer s3cret", "Host": host]).reply.status == 200)
    }

    @Test(arguments: [
        "evil.example", "evil.example:9465", "127.0.0.1.evil.example", "1.2.3", "localhost.evil.example",
        "[evil.example]", "[::1].evil.example", "[::1]:9465@evil.example", "256.0.0.1",
    ])
    func aNameThatSomebodyElsePointsHereIsNot(host: String) async throws {
        let (reply, calls) = try await reload(["Authorization": "Bearer s3cret", "Host": host])
        #expect(reply.status == 403)
        #expect(calls.isEmpty)
    }

    @Test func aPageOfAnotherOriginMayNot() async throws {
        let foreign = ["https://evil.example", "null", "http://localhost:1", "https://localhost"]
        for origin in foreign {
            let headers: HTTPHeaders = ["Authorization": "Bearer s3cret", "Host": "localhost", "Origin": origin]
            #expect(try await reload(headers).reply.status == 403)
        }
        let own: HTTPHeaders = ["Authorization": "Bearer s3cret", "Host": "localhost", "Origin": "http://localhost"]
        #expect(try await reload(own).reply.status == 200)
    }

    @Test(arguments: ["/", "/metrics", "/-/healthy", "/api/v1/status", "/nothing"])
    func readingNeedsTheTokenToo(path: String) async throws {
        let server = try HTTPServer(agent: FakeAgent(), listen: "127.0.0.1:0", token: { "x" }, logger: quiet)
        #expect(try await withRunning(server) { try await HTTPProbe(address: $0).get(path) }.status == 401)
    }

    /// Every route that the control API has, and every method.
    @Test func nothingIsChangedOrToldWithoutTheToken() async throws {
        let agent = FakeAgent()
        // Each request comes a minute after the last one, so none is slowed.
        let time = Mutex(Duration.zero)
        let settings = ServerSettings(now: {
            time.withLock {
                $0 += .seconds(60); return $0
            }
        })
        let server = try HTTPServer(
            agent: agent,
            listen: "127.0.0.1:0",
            token: { "s3cret" },
            settings: settings,
            logger: quiet
        )
        try await withRunning(server) { address in
            let probe = HTTPProbe(address: address)
            for route in ControlRoutes(agent: agent).table {
                let path = route.path.replacing("{name}", with: "a").replacing("{id}", with: "1")
                    .replacing("{action}", with: "dismiss")
                for method: HTTPMethod in [.GET, .HEAD, .POST, .PUT, .DELETE, .PATCH, .OPTIONS] {
                    let reply = try await probe.send(method, path, body: "{\"ids\": [1]}")
                    #expect(reply.status == 401, "\(method) \(path)")
                }
            }
        }
        #expect(agent.now.calls.isEmpty)
    }

    @Test(arguments: [
        ("http://localhost/api/v1/reload", "Host: evil.example\r\n", "403"),
        ("/api/v1/reload", "Host: localhost:1\r\nHost: evil.example\r\n", "400"),
        ("/api/v1/reload", "Host: evil.example\r\nHost: localhost:1\r\n", "400"),
        ("/api/v1/reload", "Host: localhost\r\nhost: localhost\r\n", "400"),
        ("/api/v1/reload", "Host:\r\n", "403"),
    ])
    func noHostIsOursThatIsNotTheOneHeader(target: String, hosts: String, status: String) async throws {
        let agent = FakeAgent()
        let server = try HTTPServer(agent: agent, listen: "127.0.0.1:0", token: { "s3cret" }, logger: quiet)
        let answer = try await withRunning(server) {
            try await HTTPProbe(address: $0).exchange(
                "POST \(target) HTTP/1.1\r\n\(hosts)Authorization: Bearer s3cret\r\nContent-Length: 0\r\n"
                    + "Connection: close\r\n\r\n"
            )
        }
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(200))")
        #expect(agent.now.calls.isEmpty)
    }
}
