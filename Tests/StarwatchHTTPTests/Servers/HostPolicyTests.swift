import NIOHTTP1
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite(.timeLimit(.minutes(5)))
struct HostPolicyTests {
    private func get(_ host: String, listen: String, allowed: [String] = []) async throws -> HTTPProbe.Reply {
        let settings = ServerSettings(allowedHosts: allowed)
        let server = try HTTPServer(reading: FakeAgent(), listen: listen, settings: settings, logger: quiet)
        return try await withRunning(server) { try await HTTPProbe(address: $0).get("/metrics", ["Host": host]) }
    }

    @Test(arguments: ["127.0.0.1:0", "localhost:0"])
    func onLoopbackANameOfSomebodyElseIsRefused(listen: String) async throws {
        for host in ["localhost:9464", "127.0.0.1", "[::1]:9464", "10.0.0.1:9464"] {
            #expect(try await get(host, listen: listen).status == 200, "\(host)")
        }
        for host in [
            "evil.test", "evil.test:9464", "localhost.evil.test", "agent.internal", "localhost:80@evil.test",
            "localhost:x", "[::1]@evil.test", "localhost/x",
        ] {
            let reply = try await get(host, listen: listen)
            #expect(reply.status == 403, "\(host)")
            #expect(reply.text.contains("http.allowed_hosts") && !reply.text.contains(host))
        }
    }

    @Test(arguments: ["agent.internal", "AGENT.internal.:9464"])
    func aConfiguredNameIsAccepted(host: String) async throws {
        #expect(try await get(host, listen: "127.0.0.1:0", allowed: ["Agent.internal"]).status == 200)
    }

    /// A scraper reaches the agent by a name that only the operator knows.
    @Test func offLoopbackNamesAreCheckedOnlyIfTheyAreConfigured() async throws {
        #expect(try await get("agent.internal:9464", listen: "0.0.0.0:0").status == 200)
        #expect(try await get("agent.internal:9464", listen: "0.0.0.0:0", allowed: ["agent.internal"]).status == 200)
        #expect(try await get("evil.test:9464", listen: "0.0.0.0:0", allowed: ["agent.internal"]).status == 403)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("localhost", true), ("0.0.0.0", false),
        ("10.0.0.1", false), ("::", false), ("127.0.0.1.evil.test", false),
    ])
    func loopbackIsRecognised(host: String, isLoopback: Bool) {
        #expect(ListenAddress(host: host, port: 1).isLoopback == isLoopback)
    }
}
