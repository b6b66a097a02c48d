import Foundation
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// A server with TLS, as curl and openssl see it.
@Suite(.timeLimit(.minutes(5)))
struct TLSServerTests {
    /// Runs a server with the certificate `server` of the authority `ca`.
    private func withServer(
        _ change: (inout WebConfiguration.TLS) -> Void = { _ in },
        limits: ConnectionLimits = .patient,
        _ body: (WebServer, _ address: String) async throws -> Void
    ) async throws {
        try await withDirectory { directory async throws in
            let certificates = Certificates(directory: directory)
            try await certificates.makeAuthority()
            try await certificates.issue("server")
            let server = WebServer(in: directory, WebServer.tls(in: directory, change))
            try await server.withRunning(limits: limits) { try await body(server, $0) }
        }
    }

    @Test func tls12And13AreSpokenAndNothingOlder() async throws {
        try await withServer { server, address async throws in
            #expect(try await server.curl("https://\(address)/metrics") == 200)
            #expect(try await server.handshake(address, "-tls1_2") == "TLSv1.2")
            #expect(try await server.handshake(address, "-tls1_3") == "TLSv1.3")
            for old in ["-tls1_1", "-tls1"] {
                #expect(try await server.handshake(address, old, "-cipher", "ALL:@SECLEVEL=0") == nil)
            }
        }
    }

    @Test func clearTextIsNoTLS() async throws {
        try await withServer { server, address async throws in
            #expect(try await server.curl("http://\(address)/metrics") == 0)
            #expect(try await server.curl("https://\(address)/metrics") == 200)
        }
    }

    @Test func aClientOfAnotherAuthorityRefusesTheServer() async throws {
        try await withServer { server, address async throws in
            try await server.certificates.makeAuthority("foreign")
            #expect(try await server.curl("https://\(address)/", "--cacert", "foreign.pem") == 0)
        }
    }

    @Test func theVersionsOfTheConfigurationCount() async throws {
        try await withServer({ $0.minimumVersion = .tls13 }) { server, address async throws in
            #expect(try await server.handshake(address, "-tls1_2") == nil)
            #expect(try await server.handshake(address, "-tls1_3") == "TLSv1.3")
        }
        try await withServer({ $0.maximumVersion = .tls12 }) { server, address async throws in
            #expect(try await server.handshake(address) == "TLSv1.2")
        }
    }

    @Test func theCipherSuitesAndCurvesOfTheConfigurationCount() async throws {
        func change(_ tls: inout WebConfiguration.TLS) {
            (tls.cipherSuites, tls.curves) = ([.ecdsaChaCha], [.p384])
        }
        try await withServer(change) { server, address async throws in
            let suite = "ECDHE-ECDSA-CHACHA20-POLY1305"
            #expect(try await server.handshake(address, "-tls1_2", "-cipher", suite) == "TLSv1.2")
            #expect(try await server.handshake(address, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256") == nil)
            #expect(try await server.handshake(address, "-curves", "P-256") == nil)
            #expect(try await server.handshake(address, "-curves", "P-384") == "TLSv1.3")
        }
    }

    /// Suites without forward secrecy or with CBC are never offered.
    @Test(arguments: ["ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "AES128-GCM-SHA256"])
    func weakCipherSuitesAreNotOffered(suite: String) async throws {
        try await withServer { server, address async throws in
            #expect(try await server.handshake(address, "-tls1_2", "-cipher", suite + ":@SECLEVEL=0") == nil)
        }
    }

    // MARK: - Client certificates

    struct ClientCase: Sendable {
        var kind: WebConfiguration.ClientCertificates
        var names: [String] = []
        /// Whether a client gets an answer without a certificate, with one of another authority, and with a good one.
        var answers: [Bool]
    }

    @Test(arguments: [
        ClientCase(kind: .none, answers: [true, true, true]),
        ClientCase(kind: .request, answers: [true, true, true]),
        ClientCase(kind: .requireAny, answers: [false, true, true]),
        ClientCase(kind: .verifyIfGiven, answers: [true, false, true]),
        ClientCase(kind: .requireAndVerify, answers: [false, false, true]),
        ClientCase(kind: .requireAndVerify, names: ["other.test", "client.test"], answers: [false, false, true]),
        ClientCase(kind: .requireAndVerify, names: ["127.0.0.1"], answers: [false, false, true]),
        ClientCase(kind: .requireAndVerify, names: ["127.0.0.2", "client"], answers: [false, false, false]),
        ClientCase(kind: .verifyIfGiven, names: ["other.test"], answers: [true, false, false]),
    ])
    func aClientNeedsTheCertificateThatTheConfigurationSays(_ example: ClientCase) async throws {
        func change(_ tls: inout WebConfiguration.TLS) {
            (tls.clientCertificates, tls.allowedClientNames) = (example.kind, example.names)
            if example.kind.verifies {
                tls.clientCAFile = tls.certificateFile.replacing("server.pem", with: "ca.pem")
            }
        }
        try await withServer(change) { server, address async throws in
            try await server.certificates.makeAuthority("foreign")
            try await server.certificates.issue("stranger", by: "foreign", host: "client.test")
            try await server.certificates.issue("client")
            var answers: [Bool] = []
            for version in ["1.2", "1.3"] {
                let url = "https://\(address)/metrics"
                answers = []
                for arguments in [
                    [], ["--cert", "stranger.pem", "--key", "stranger.key"],
                    ["--cert", "client.pem", "--key", "client.key"],
                ] {
                    let all = ["--tls-max", version] + arguments
                    answers.append(try await server.curl(url, all) == 200)
                }
                #expect(answers == example.answers, "TLS \(version)")
            }
        }
    }

    // MARK: - Limits

    /// A silent client, and one that begins a handshake and does not end it.
    @Test(arguments: [[], [0x16, 0x03, 0x01, 0x02, 0x00, 0x01]] as [[UInt8]])
    func aHandshakeThatDoesNotEndIsCutOff(bytes: [UInt8]) async throws {
        var limits = ConnectionLimits.patient
        limits.request = .milliseconds(200)
        try await withServer(limits: limits) { server, address async throws in
            let text = String(decoding: bytes, as: UTF8.self)
            // Returns once the server closes, long before the limit of an idle connection.
            _ = try await HTTPProbe(address: address).exchange(text)
            // The limit holds for curl too, whose handshake can take longer on a busy machine.
            var status = 0
            while status == 0, !Task.isCancelled { status = try await server.curl("https://\(address)/metrics") }
            #expect(status == 200)
        }
    }
}
