import Foundation
import MockEndorser
import Testing

/// The built agent behind a proxy, which is the only way to a server and a sink with TLS.
@Suite struct ProxyTrafficTests {
    /// How the agent learns of the proxy.
    enum Way: CaseIterable {
        case setting
        case environment
    }

    /// The two servers with TLS, whose names only the proxy knows.
    private static let (server, sink) = ("endorser.test", "hooks.test")

    @Test(arguments: Way.allCases)
    func changesAndNotificationsPassThroughTheTunnel(way: Way) async throws {
        let world = try await world(isSigned: true)
        let proxy = try await Proxy(to: world.mock.url, in: world.workspace)
        try write(world, proxy: way == .setting ? proxy.url : "environment")
        let agent = try await RunningAgent(
            config: world.config,
            in: world.workspace,
            environment: way == .setting ? [:] : ["HTTPS_PROXY": proxy.url, "NO_PROXY": ""]
        )
        let published = world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
        let arrived = await eventually {
            Set(world.mock.receivedNotifications.flatMap(\.jwtIDs)).isSuperset(of: published) ? true : nil
        }
        #expect(arrived == true, "\(agent.logText.suffix(2000))\n\(proxy.heads)")
        #expect(await agent.stop() == 0)
        for name in [Self.server, Self.sink] {
            #expect(proxy.heads.contains { $0.hasPrefix("CONNECT \(name):443 HTTP/1.1") }, "\(name): \(proxy.heads)")
        }
        // A proxy learns names, and nothing of what is said.
        #expect(proxy.heads.allSatisfy { $0.hasPrefix("CONNECT ") && !$0.contains("Authorization") }, "\(proxy.heads)")
        try await world.mock.stop()
    }

    @Test func aProxyOfTheEnvironmentIsNotUsedUnasked() async throws {
        let world = try await world(isSigned: false)
        let proxy = try await Proxy(to: world.mock.url, in: world.workspace)
        try write(world, proxy: nil)
        let agent = try await RunningAgent(
            config: world.config,
            in: world.workspace,
            environment: ["HTTPS_PROXY": proxy.url, "https_proxy": proxy.url, "ALL_PROXY": proxy.url, "NO_PROXY": ""]
        )
        let failed = await eventually {
            agent.logText.contains("\"reason\":\"dns\"") ? true : nil
        }
        #expect(failed == true, "\(agent.logText.suffix(2000))")
        #expect(await agent.stop() == 0)
        #expect(proxy.heads.isEmpty)
        try await world.mock.stop()
    }

    /// - Parameter isSigned: Whether the agent's requests have a token.
    private func world(isSigned: Bool) async throws -> AgentWorld {
        let secret = Array("a secret of thirty-two bytes ok!".utf8)
        let world = try await AgentWorld {
            if isSigned { $0.auth = .sharedSecret(secret) }
        } configure: { configuration, workspace in
            if isSigned { configuration.auth = "kind: shared_secret\n  secret_file: secret" }
            configuration.groupInterval = "0s"
            try workspace.write(String(decoding: secret, as: UTF8.self), to: "secret")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.workspace.path("secret"))
        return world
    }

    /// Writes a configuration with the names of the servers with TLS.
    private func write(_ world: AgentWorld, proxy: String?) throws {
        let setting = proxy.map { "proxy: \($0)" } ?? "proxy: null"
        let ca = "ca_file: \(world.workspace.path("ca.pem"))"
        try world.write {
            // The section's first line is that of the address.
            $0.server = "https://\(Self.server)\n  \(ca)\n  \(setting)"
            $0.sinks = """
                    - name: hook
                      kind: webhook
                      url: https://\(Self.sink)/hook
                      \(ca)
                      \(setting)
                """
        }
    }

    /// A proxy and the servers with TLS, in a process of their own.
    private final class Proxy: Sendable {
        let url: String
        private let program: RunningProgram
        private let log: URL

        init(to plain: String, in workspace: Workspace) async throws {
            let names = ["DNS:\(server)", "DNS:\(sink)"].joined(separator: ",")
            let ca = try await Self.certify("ca", [], in: workspace)
            let leaf = try await Self.certify(
                "leaf",
                ["-CA", ca.certificate, "-CAkey", ca.key, "-addext", "subjectAltName=\(names)"],
                in: workspace
            )
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "tunnel.py").path
            let port = plain.split(separator: ":").last.map(String.init) ?? ""
            let ready = workspace.path("proxy.port")
            log = workspace.url.appending(path: "proxy.log")
            program = try RunningProgram("python3", [script, port, leaf.certificate, leaf.key, ready], log: log)
            let found = await eventually { try? String(contentsOfFile: ready, encoding: .utf8) }
            guard let found else {
                throw AcceptanceError(
                    "the proxy did not start: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")"
                )
            }
            url = "http://127.0.0.1:\(found)"
        }

        /// The heads of the requests to the proxy, each on one line.
        var heads: [String] {
            ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }

        private static func certify(
            _ name: String,
            _ arguments: [String],
            in workspace: Workspace
        ) async throws -> (certificate: String, key: String) {
            let (certificate, key) = (workspace.path("\(name).pem"), workspace.path("\(name).key"))
            let all = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=\(name)",
                "-days", "2", "-keyout", key, "-out", certificate,
            ]
            let result = try await runToEnd(try Program.find("openssl"), all + arguments)
            guard result.status == 0 else { throw AcceptanceError(result.errors) }
            return (certificate, key)
        }
    }
}
