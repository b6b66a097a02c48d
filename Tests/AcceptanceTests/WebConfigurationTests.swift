import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The built agent with a web configuration: a real Prometheus scrapes it over TLS, and its files change.
@Suite(.serialized) struct WebConfigurationTests {
    /// The bcrypt hash of `secret`.
    private static let hash = "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"

    private func withAgent(
        _ web: String,
        _ body: (Workspace, RunningAgent) async throws -> Void
    ) async throws {
        let mock = MockServer(options: MockServerOptions())
        try await mock.start()
        let workspace = try Workspace()
        try await authority("ca", in: workspace)
        try await issue("server", in: workspace)
        try workspace.write(web, to: "web.yml")
        var configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: TestConfiguration.file(workspace)
        )
        configuration.http = "web_config_file: web.yml"
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        try await body(workspace, agent)
        await agent.stop()
        try await mock.stop()
    }

    private func authority(_ name: String, in workspace: Workspace) async throws {
        try await openssl(name, [], in: workspace)
    }

    private func issue(_ name: String, in workspace: Workspace) async throws {
        let (certificate, key) = (workspace.path("ca.pem"), workspace.path("ca.key"))
        try await openssl(
            name,
            ["-CA", certificate, "-CAkey", key, "-addext", "subjectAltName=IP:127.0.0.1"],
            in: workspace
        )
    }

    private func openssl(_ name: String, _ arguments: [String], in workspace: Workspace) async throws {
        let all = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
            "-days", "2", "-keyout", workspace.path(name + ".key"), "-out", workspace.path(name + ".pem"),
        ]
        let result = try await runToEnd(try Program.find("openssl"), all + arguments)
        guard result.status == 0 else { throw AcceptanceError(result.errors) }
    }

    /// The answer of a request by curl, with its status at the end.
    private func curl(
        _ path: String,
        _ agent: RunningAgent,
        _ workspace: Workspace,
        _ arguments: String...
    ) async throws -> String {
        let all =
            [
                "-s", "-m", "\(longestWait.components.seconds)", "-w", "%{http_code}", "--cacert",
                workspace.path("ca.pem"),
            ] + arguments
        return try await runToEnd(try Program.find("curl"), all + ["https://\(agent.address)\(path)"]).output
    }

    private static let basic = """
        tls_server_config:
          cert_file: server.pem
          key_file: server.key
        basic_auth_users:
          prometheus: \(hash)

        """

    @Test func prometheusScrapesOverTLSWithAPassword() async throws {
        try await withAgent(Self.basic) { workspace, agent async throws in
            try workspace.write("secret", to: "password")
            let prometheus = try await Prometheus(
                scraping: agent.address,
                with: [
                    "scheme: https", "tls_config: {ca_file: \(workspace.path("ca.pem"))}",
                    "basic_auth: {username: prometheus, password_file: \(workspace.path("password"))}",
                ],
                in: workspace
            )
            let isUp = try await eventually { try await prometheus.query("up") == 1 ? true : nil }
            #expect(isUp == true)
            let expiry = try await eventually {
                try await prometheus.query("starwatch_certificate_expiry_timestamp_seconds{of=\"port:http\"} - time()")
            }
            #expect((86_400...172_801).contains(expiry ?? 0))
            // A scrape with a wrong password fails.
            try workspace.write("wrong", to: "password")
            let isDown = try await eventually { try await prometheus.query("up") == 0 ? true : nil }
            #expect(isDown == true)
            await prometheus.stop()
        }
    }

    @Test func prometheusScrapesWithAClientCertificate() async throws {
        let web = """
            tls_server_config:
              cert_file: server.pem
              key_file: server.key
              client_ca_file: ca.pem
              client_auth_type: RequireAndVerifyClientCert

            """
        try await withAgent(web) { workspace, agent async throws in
            try await issue("client", in: workspace)
            let (certificate, key) = (workspace.path("client.pem"), workspace.path("client.key"))
            let tls = "ca_file: \(workspace.path("ca.pem")), cert_file: \(certificate), key_file: \(key)"
            let prometheus = try await Prometheus(
                scraping: agent.address,
                with: ["scheme: https", "tls_config: {\(tls)}"],
                in: workspace
            )
            let isUp = try await eventually { try await prometheus.query("up") == 1 ? true : nil }
            #expect(isUp == true)
            await prometheus.stop()
            #expect(try await curl("/-/healthy", agent, workspace) == "000")
        }
    }

    @Test func changedFilesAreReadWithAndWithoutAReload() async throws {
        try await withAgent(Self.basic) { workspace, agent async throws in
            #expect(try await curl("/-/healthy", agent, workspace, "-u", "prometheus:secret").hasSuffix("200"))
            // Without a reload: another user, and a bad file that changes nothing.
            try workspace.write(Self.basic.replacing("prometheus:", with: "scraper:"), to: "web.yml")
            let isChanged = try await eventually {
                try await curl("/-/healthy", agent, workspace, "-u", "scraper:secret").hasSuffix("200") ? true : nil
            }
            #expect(isChanged == true)
            // The tries until the change was noticed are refused ones, and after many the next are slowed.
            let former = try await curl("/-/healthy", agent, workspace, "-u", "prometheus:secret")
            #expect(former.hasSuffix("401") || former.hasSuffix("429"), "\(former)")
            try workspace.write("tls_server_config: {min_version: TLS10}\n", to: "web.yml")
            let isVisible = try await eventually {
                let page = try await curl("/metrics", agent, workspace, "-u", "scraper:secret")
                return page.contains("starwatch_web_config_last_reload_successful{port=\"http\"} 0\n") ? true : nil
            }
            #expect(isVisible == true)
            let log = agent.logText
            #expect(log.contains("web_config.reloaded") && log.contains("web_config.refused"))
            #expect(log.contains("needs cert_file"))
            // With a reload: a bad file is refused, and one without TLS turns it off.
            agent.hangUp()
            let isRefused = await eventually { agent.logText.contains("\"config.refused\"") ? true : nil }
            #expect(isRefused == true)
            try workspace.write("basic_auth_users: {prometheus: \(Self.hash)}\n", to: "web.yml")
            agent.hangUp()
            let isPlain = try await eventually {
                // Not by URLSession, which never answers after a 401.
                let arguments = [
                    "-s", "-m", "\(longestWait.components.seconds)", "-w", "%{http_code}",
                    "http://\(agent.lastAddress)/-/healthy",
                ]
                let output = try await runToEnd(try Program.find("curl"), arguments).output
                return output.hasSuffix("401") ? true : nil
            }
            #expect(isPlain == true)
        }
    }

    @Test func checkAndStartRefuseWhatTheyCannotUse() async throws {
        try await withAgent(Self.basic) { workspace, agent async throws in
            let check = try await starwatch("check", "--config", workspace.path("starwatch.yaml"))
            #expect(check.status == 0, "\(check.errors)")
            try await authority("other", in: workspace)
            try workspace.write(
                try String(contentsOfFile: workspace.path("other.key"), encoding: .utf8),
                to: "server.key"
            )
            let bad = try await starwatch("check", "--config", workspace.path("starwatch.yaml"))
            #expect(bad.status == 2)
            #expect(bad.errors.contains("The key of key_file does not belong to the certificate of cert_file."))
        }
    }
}
