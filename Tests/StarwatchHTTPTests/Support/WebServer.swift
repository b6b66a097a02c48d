import Foundation
import ProgramTestKit
import Synchronization

@testable import Starwatch
@testable import StarwatchHTTP

/// A read-only server with a web configuration, whose clients are curl and openssl.
final class WebServer: Sendable {
    /// The bcrypt hash of `secret`, of the lowest cost.
    static let secretHash = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"

    let agent = FakeAgent { $0.metrics.body = Array("up 1\n".utf8) }
    let certificates: Certificates
    let configuration: Mutex<WebConfiguration>
    /// A time that the test moves.
    let time = Mutex(Duration.zero)
    /// Ends the load of a test.
    let isOver = Mutex(false)

    init(in directory: String, _ configuration: WebConfiguration) {
        certificates = Certificates(directory: directory)
        self.configuration = Mutex(configuration)
    }

    /// A configuration with the certificate `server` of the folder.
    static func tls(
        in directory: String,
        _ change: (inout WebConfiguration.TLS) -> Void = { _ in }
    ) -> WebConfiguration {
        var tls = WebConfiguration.TLS()
        (tls.certificateFile, tls.keyFile) = (directory + "/server.pem", directory + "/server.key")
        change(&tls)
        var configuration = WebConfiguration()
        configuration.tls = tls
        return configuration
    }

    func security(hasToken: Bool? = nil) throws -> PortSecurity {
        try PortSecurity(
            path: certificates.path("web.yml"),
            hasToken: hasToken,
            source: { [self] _ throws(AgentError) in configuration.withLock { $0 } },
            now: { [self] in time.withLock { $0 } },
            report: { [agent] in agent.noteWebConfiguration($0, at: .http) }
        )
    }

    func withRunning(
        limits: ConnectionLimits = .patient,
        _ body: (_ address: String) async throws -> Void
    ) async throws {
        let settings = ServerSettings(security: try security(), limits: limits, now: { [self] in time.withLock { $0 } })
        let server = try HTTPServer(
            reading: agent,
            listen: "127.0.0.1:0",
            settings: settings,
            logger: quiet
        )
        try await StarwatchHTTPTests.withRunning(server, body)
    }

    /// The status of a request by curl; 0 if there was no answer.
    func curl(_ url: String, _ arguments: String...) async throws -> Int { try await curl(url, arguments) }

    func curl(_ url: String, _ arguments: [String]) async throws -> Int {
        let all =
            [
                "-s", "-o", "/dev/null", "-m", "\(longestWait.components.seconds)", "-w", "%{http_code}", "--cacert",
                "ca.pem",
            ] + arguments + [url]
        return Int(try await Command.run("curl", all, in: certificates.directory).text) ?? -1
    }

    /// The protocol of a handshake by openssl; `nil` if it failed.
    func handshake(_ address: String, _ arguments: String...) async throws -> String? {
        let all = ["s_client", "-brief", "-connect", address] + arguments
        let text = try await Command.run("openssl", all, in: certificates.directory).text
        return text.firstMatch(of: /Protocol version: (\S+)/).map { String($0.1) }
    }
}
