import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// Requests that the control API over TCP refuses are counted, and slowed for their address.
@Suite(.timeLimit(.minutes(5)))
struct RefusalTests {
    private let agent = FakeAgent()
    private let time = Time()

    private final class Time: Sendable {
        let now = Mutex(Duration.zero)
    }

    private func withServer(_ body: (_ address: String) async throws -> Void) async throws {
        let settings = ServerSettings(now: { [time] in time.now.withLock { $0 } })
        let server = try HTTPServer(
            agent: agent,
            listen: "127.0.0.1:0",
            token: { "right" },
            settings: settings,
            logger: quiet
        )
        try await withRunning(server, body)
    }

    private func status(_ token: String, from source: String? = nil, _ address: String) async throws -> UInt {
        let probe = HTTPProbe(address: address, source: source)
        return try await probe.get("/api/v1/status", ["Authorization": "Bearer \(token)"]).status
    }

    @Test func afterTenWrongTokensAnAddressIsToldToWait() async throws {
        try await withServer { address async throws in
            for _ in 0..<10 { #expect(try await status("wrong", address) == 401) }
            time.now.withLock { $0 = .milliseconds(500) }
            let reply = try await HTTPProbe(address: address).get("/api/v1/status", ["Authorization": "Bearer wrong"])
            #expect(reply.status == 429)
            #expect(reply.headers["Retry-After"] == ["60"])
            #expect(reply.text.contains("wait 60 s"))
            // All of 127.0.0.0/8 is this machine, so another of its addresses is no other client.
            #expect(try await status("wrong", from: "127.0.0.2", address) == 429)
            time.now.withLock { $0 = .seconds(60) }
            #expect(try await status("wrong", address) == 401)
        }
        #expect(agent.now.refusals == Array(repeating: .token, count: 10) + [.rate, .rate, .token])
        #expect(Set(agent.now.refused) == ["127.0.0.0/8"])
    }

    /// Who guesses cannot lock out the owner behind the same address.
    @Test func theRightTokenIsLetInWhateverItsAddressSentBefore() async throws {
        try await withServer { address async throws in
            for _ in 0..<20 { _ = try await status("wrong", address) }
            #expect(try await status("right", address) == 200)
            #expect(try await status("wrong", address) == 429)
        }
    }

    /// A page in a browser cannot send a token, so it cannot lock out a client that does.
    @Test func requestsWithoutATokenDoNotSlowThoseWithOne() async throws {
        try await withServer { address async throws in
            let probe = HTTPProbe(address: address)
            for _ in 0..<3 {
                #expect(try await probe.get("/").status == 401)
                #expect(try await probe.get("/", ["Host": "evil.test", "Authorization": "Bearer right"]).status == 403)
                #expect(try await probe.get("/", ["Origin": "http://evil.test"]).status == 403)
            }
            #expect(try await probe.get("/").status == 401)
            #expect(try await probe.get("/").status == 429)
            #expect(try await status("right", address) == 200)
        }
        #expect(Set(agent.now.refusals) == Set(ControlRefusal.allCases).subtracting([.password, .formerToken]))
    }

    @Test func theSocketCountsRefusalsAndSlowsNobody() async throws {
        try await withControl(agent) { path, _ async throws in
            let probe = HTTPProbe(address: path)
            for _ in 0..<11 { #expect(try await probe.get("/", ["Host": "evil.test"]).status == 403) }
            #expect(try await probe.get("/", ["Origin": "http://evil.test"]).status == 403)
            #expect(try await probe.get("/").status == 200)
        }
        #expect(agent.now.refusals == Array(repeating: .host, count: 11) + [.origin])
    }

    @Test func theReadOnlyServerCountsRefusalsAndSlowsTheirAddressAlone() async throws {
        try await withAdmin(agent) { probe in
            for _ in 0..<10 { #expect(try await probe.get("/", ["Host": "evil.test"]).status == 403) }
            let reply = try await probe.get("/", ["Host": "evil.test"])
            #expect(reply.status == 429)
            #expect(reply.headers["Retry-After"] == ["60"])
            // A scraper of the same machine names a good host.
            #expect(try await probe.get("/metrics").status == 200)
        }
        #expect(agent.now.refusals == Array(repeating: .host, count: 10) + [.rate])
    }

    // MARK: - Counting

    private func key(_ address: String, hasToken: Bool = true) throws -> RefusalCount.Key {
        RefusalCount.Key(try SocketAddress(ipAddress: address, port: 1), hasToken: hasToken)
    }

    @Test func aClientIsAnAddressOrANetworkOfVersion6() throws {
        #expect(try key("10.0.0.1") != key("10.0.0.2"))
        #expect(try key("10.0.0.1") == key("::ffff:10.0.0.1"))
        #expect(try key("::ffff:10.0.0.2") != key("::ffff:10.0.0.1"))
        #expect(try key("2001:db8::1") == key("2001:db8::ffff:2"))
        #expect(try key("2001:db8::1") != key("2001:db8:0:1::1"))
        #expect(try key("10.0.0.1") != key("10.0.0.1", hasToken: false))
        #expect(try key("127.0.0.1") == key("127.1.2.3") && key("127.0.0.1") == key("::1"))
        #expect(try key("127.0.0.1") == key("::ffff:127.0.0.9"))
    }

    @Test(arguments: [
        ("10.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.2", "10.0.0.2"), ("2001:db8::ffff:2", "2001:db8::/64"),
        ("127.3.0.1", "127.0.0.0/8"), ("::1", "127.0.0.0/8"),
    ])
    func theLogNamesTheClient(address: String, name: String) throws {
        #expect(ClientNetwork(try SocketAddress(ipAddress: address, port: 1)).description == name)
    }

    /// Browsers send no origin with images and scripts of a page, but they say where the page is from.
    @Test(arguments: ["cross-site", "same-site"])
    func aPartOfAForeignPageIsRefusedAndALinkIsNot(site: String) async throws {
        try await withControl(agent) { path, _ async throws in
            let probe = HTTPProbe(address: path)
            #expect(try await probe.get("/", ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"]).status == 403)
            #expect(try await probe.get("/", ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"]).status == 200)
            for own in ["same-origin", "none"] {
                #expect(try await probe.get("/", ["Sec-Fetch-Site": own, "Sec-Fetch-Mode": "cors"]).status == 200)
            }
        }
    }

    @Test(arguments: ["/metrics", "/", "/help/runbooks"])
    func aPartOfAForeignPageGetsNothingFromThePortOfMetrics(path: String) async throws {
        let server = try HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", logger: quiet)
        try await withRunning(server) { address in
            let probe = HTTPProbe(address: address)
            func status(_ mode: String) async throws -> Int {
                try await Int(probe.get(path, ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode]).status)
            }
            let (part, link) = try await (status("no-cors"), status("navigate"))
            #expect(part == 403 && link == 200)
            let other = try await probe.get(path, ["Origin": "https://grafana.test"]).status
            #expect(other == 200)
        }
    }

    @Test func onlySoManyClientsAreRemembered() throws {
        var count = RefusalCount()
        for number in 0..<5000 {
            count.add(try key("10.0.\(number / 256).\(number % 256)"), at: .milliseconds(number))
        }
        #expect(count.count == RefusalCount.capacity)
        count.add(try key("10.1.0.0"), at: .seconds(600))
        #expect(count.count == 1)
    }
}
