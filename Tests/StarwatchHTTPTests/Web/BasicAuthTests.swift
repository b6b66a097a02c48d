import Foundation
import NIOHTTP1
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// Ports with users.
@Suite(.timeLimit(.minutes(5)))
struct BasicAuthTests {
    private func withServer(
        users: [String: String] = ["prometheus": WebServer.secretHash],
        limits: ConnectionLimits = .patient,
        _ body: (WebServer, _ address: String) async throws -> Void
    ) async throws {
        try await withDirectory { directory async throws in
            var configuration = WebConfiguration()
            configuration.users = users
            let server = WebServer(in: directory, configuration)
            try await server.withRunning(limits: limits) { try await body(server, $0) }
        }
    }

    private func authorization(_ user: String, _ password: String) -> HTTPHeaders {
        ["Authorization": "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()]
    }

    @Test(arguments: ["/", "/metrics", "/-/healthy", "/-/ready", "/help", "/nowhere"])
    func everyPageNeedsAPassword(path: String) async throws {
        try await withServer { server, address async throws in
            let probe = HTTPProbe(address: address)
            let refused = try await probe.get(path)
            #expect(refused.status == 401)
            #expect(refused.headers["WWW-Authenticate"] == ["Basic realm=\"starwatch\", charset=\"UTF-8\""])
            for (user, password) in [("prometheus", "wrong"), ("nobody", "secret"), ("", "")] {
                let reply = try await probe.get(path, authorization(user, password))
                #expect(reply.status == 401)
                #expect(!reply.text.contains("secret") && !reply.text.contains("prometheus"))
            }
            #expect(try await probe.get(path, authorization("prometheus", "secret")).status != 401)
            #expect(server.agent.now.refusals == Array(repeating: .password, count: 4))
        }
    }

    @Test func curlIsServedWithThePassword() async throws {
        try await withServer { server, address async throws in
            #expect(try await server.curl("http://\(address)/metrics") == 401)
            #expect(try await server.curl("http://\(address)/metrics", "-u", "prometheus:wrong") == 401)
            #expect(try await server.curl("http://\(address)/metrics", "-u", "prometheus:secret") == 200)
        }
    }

    @Test func afterTenWrongPasswordsTheirUserIsToldToWaitAndTheRightOneIsLetIn() async throws {
        let users = ["a": WebServer.secretHash, "b": WebServer.secretHash]
        try await withServer(users: users) { server, address async throws in
            func status(_ user: String, _ password: String, from source: String? = nil) async throws -> UInt {
                try await HTTPProbe(address: address, source: source)
                    .get("/-/healthy", authorization(user, password)).status
            }
            for _ in 0..<10 { #expect(try await status("a", "wrong") == 401) }
            #expect(try await status("a", "wrong") == 429)
            #expect(try await status("a", "wrong", from: "127.0.0.2") == 429)
            // Neither another name nor one that does not exist gets another answer, which would tell who exists.
            #expect(try await status("b", "wrong") == 429)
            #expect(try await status("nobody", "wrong") == 429)
            #expect(try await status("a", "secret") == 200)
            server.time.withLock { $0 = .seconds(60) }
            #expect(try await status("a", "wrong") == 401)
            let limited = Array(repeating: ControlRefusal.rate, count: 4)
            let expected = Array(repeating: ControlRefusal.password, count: 10) + limited + [.password]
            #expect(server.agent.now.refusals == expected)
        }
    }

    /// 300 wrong passwords at once, of a hash that takes 40 ms or more. Who asks with a right one is served meanwhile.
    @Test func aFloodOfWrongPasswordsDoesNotStopTheOthers() async throws {
        let slow = WebServer.secretHash.replacing("$04$", with: "$10$")
        // Room for all: with less the server closes the quietest one, which can be one with the right password.
        var limits = ConnectionLimits.patient
        limits.connections = 400
        let users = ["a": slow, "b": WebServer.secretHash]
        try await withServer(users: users, limits: limits) { server, address async throws in
            let healthy = HTTPProbe(address: address)
            let headers = authorization("b", "secret")
            try await withThrowingTaskGroup(of: UInt?.self) { group in
                for _ in 0..<300 {
                    let wrong = authorization("a", "wrong")
                    group.addTask { try? await HTTPProbe(address: address).get("/-/healthy", wrong).status }
                }
                // One name in sixteen shares its turns with that of the flood. Until its first login it can be told to come
                // again.
                var first = try await healthy.get("/-/healthy", headers).status
                while first == 503, !Task.isCancelled { first = try await healthy.get("/-/healthy", headers).status }
                #expect(first == 200)
                for _ in 0..<20 { #expect(try await healthy.get("/-/healthy", headers).status == 200) }
                for try await case let status? in group { #expect([401, 429, 503].contains(status)) }
            }
            #expect(server.agent.now.refusals.count { $0 == .password } == RefusalCount.limit)
        }
    }

    /// 40 connections that guess, from the address and for the user of the owner, whose first login is among them.
    @Test func aFirstLoginIsAnsweredBesideFortyThatGuess() async throws {
        let slow = WebServer.secretHash.replacing("$04$", with: "$08$")
        try await withServer(users: ["a": slow, "b": WebServer.secretHash]) { _, address async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    let wrong = authorization(number % 2 == 0 ? "b" : "nobody", "wrong\(number)")
                    group.addTask {
                        for _ in 0..<3 {
                            let status = try await HTTPProbe(address: address).get("/-/healthy", wrong).status
                            #expect([401, 429].contains(status))
                        }
                    }
                }
                group.addTask {
                    let right = self.authorization("b", "secret")
                    let status = try await HTTPProbe(address: address).get("/-/healthy", right).status
                    #expect(status == 200)
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func theControlAPIHasUsersInsteadOfAToken() async throws {
        try await withDirectory { directory async throws in
            var configuration = WebConfiguration()
            configuration.users = ["admin": WebServer.secretHash]
            let web = WebServer(in: directory, configuration)
            let settings = ServerSettings(security: try web.security(hasToken: false))
            let server = try HTTPServer(
                agent: web.agent,
                listen: "127.0.0.1:0",
                token: nil,
                settings: settings,
                logger: quiet
            )
            try await StarwatchHTTPTests.withRunning(server) { address async throws in
                let probe = HTTPProbe(address: address)
                #expect(try await probe.get("/api/v1/identity").status == 401)
                #expect(try await probe.get("/api/v1/identity", ["Authorization": "Bearer secret"]).status == 401)
                #expect(try await probe.get("/api/v1/identity", authorization("admin", "secret")).status == 200)
                #expect(try await probe.send(.POST, "/api/v1/reload", authorization("admin", "secret")).status == 200)
                #expect(web.agent.now.callers.last == Operator(.port, "admin"))
            }
        }
    }

    @Test func aPortHasATokenOrUsersButNotBoth() throws {
        var configuration = WebConfiguration()
        #expect(configuration.problem(hasToken: true) == nil)
        #expect(configuration.problem(hasToken: nil) == nil)
        #expect(configuration.problem(hasToken: false)?.contains("add one") == true)
        configuration.users = ["a": WebServer.secretHash]
        #expect(configuration.problem(hasToken: false) == nil)
        #expect(configuration.problem(hasToken: nil) == nil)
        #expect(configuration.problem(hasToken: true)?.contains("remove one") == true)
    }

    @Test func theHeadersOfTheConfigurationAreAddedAndTheAgentsPolicyStays() async throws {
        try await withDirectory { directory async throws in
            var configuration = WebConfiguration()
            configuration.headers = [
                "Strict-Transport-Security": "max-age=1", "X-Frame-Options": "sameorigin",
                "Content-Security-Policy": "sandbox",
            ]
            let server = WebServer(in: directory, configuration)
            try await server.withRunning { address async throws in
                let headers = try await HTTPProbe(address: address).get("/").headers
                #expect(headers["Strict-Transport-Security"] == ["max-age=1"])
                #expect(headers["X-Frame-Options"] == ["sameorigin"])
                #expect(headers["Content-Security-Policy"].count == 2)
                #expect(headers["Content-Security-Policy"].contains { $0.contains("default-src 'none'") })
            }
        }
    }
}
