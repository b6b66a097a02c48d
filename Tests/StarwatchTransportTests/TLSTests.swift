import Foundation
import Glibc
import ProgramTestKit
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

/// Without the tool these tests are skipped, but not in CI, where they fail.
private let isOpenSSLExpected =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") || ProcessInfo.processInfo.environment["CI"] != nil

/// Tests with `openssl s_server` and a self-signed certificate.
@Suite(.enabled(if: isOpenSSLExpected, "openssl is not installed.")) struct TLSTests {
    /// A running server, stopped on release.
    private final class TLSServer {
        let directory = TemporaryDirectory()
        let port: Int
        private let process = Process()

        var certificate: String { directory.path + "/cert.pem" }
        var url: String { "https://127.0.0.1:\(port)/" }

        /// - Parameter days: The time for which the certificate is valid; it has expired if negative.
        init(days: Int = 2) throws {
            let key = directory.path + "/key.pem"
            let certificate = directory.path + "/cert.pem"
            _ = try Self.openssl([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ])
            // `req` makes no certificate that has expired.
            _ = try Self.openssl([
                "x509", "-in", certificate, "-signkey", key, "-days", "\(days)", "-clrext", "-extfile",
                directory.write("extensions", "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:TRUE"), "-out",
                certificate,
            ])
            let output = Pipe.make()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
            process.arguments = [
                "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificate, "-key", key,
            ]
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            try process.start()
            // Its first line, once it listens, is "ACCEPT 127.0.0.1:38261".
            var line = ""
            while !line.contains("\n") || !line.contains("ACCEPT") {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { throw POSIXError(.ECONNREFUSED) }
                line += String(decoding: data, as: UTF8.self)
            }
            let digits = line.split(separator: ":").last.map { $0.prefix { $0.isNumber } } ?? ""
            guard let port = Int(digits) else { throw POSIXError(.ECONNREFUSED) }
            self.port = port
        }

        deinit {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        func pin() throws -> String {
            let publicKey = directory.path + "/public.der"
            let pem = try Self.openssl(["x509", "-in", certificate, "-pubkey", "-noout"])
            let file = directory.write("public.pem", pem)
            _ = try Self.openssl(["pkey", "-pubin", "-in", file, "-outform", "DER", "-out", publicKey])
            let digest = try Self.openssl(["dgst", "-sha256", "-r", publicKey]).prefix(64)
            return "sha256//" + Base64.encode(Hex.decode(digest.utf8) ?? [])
        }

        private static func openssl(_ arguments: [String]) throws -> String {
            let process = Process()
            let output = Pipe.make()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            try process.start()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw POSIXError(.EINVAL) }
            return String(decoding: data, as: UTF8.self)
        }
    }

    @Test func unknownCertificateIsRejectedUntilItsAnchorIsAdded() async throws {
        let server = try TLSServer()
        let distrusting = await (try makeClient()).exchange(HTTPRequest(url: server.url, timeout: longestWait))
        #expect(failure(of: distrusting.result) == .tls)

        let client = try makeClient(HTTPClientOptions(caFile: server.certificate).patient)
        let exchange = await client.exchange(HTTPRequest(url: server.url, timeout: longestWait))
        #expect(try exchange.result.get().status == 200)
        #expect(exchange.measurements[.tls] > .zero)
    }

    @Test func aNewConnectionTellsWhenItsCertificateExpires() async throws {
        let server = try TLSServer(days: 3)
        let client = try makeClient(HTTPClientOptions(caFile: server.certificate).patient)
        let request = HTTPRequest(url: server.url, timeout: longestWait)
        let first = await client.exchange(request)
        let expiry = try #require(first.certificateExpiry)
        let days = (expiry.seconds - Date().timeIntervalSince1970) / 86_400
        #expect((2.9...3.1).contains(days))
        let noted = Mutex<[Timestamp]>([])
        _ = await WatchedTransport(client) { expiry in noted.withLock { $0.append(expiry) } }.exchange(request)
        #expect(noted.withLock { $0 } == [expiry])
    }

    @Test func anExpiredCertificateHasAReasonOfItsOwn() async throws {
        let server = try TLSServer(days: -1)
        let client = try makeClient(HTTPClientOptions(caFile: server.certificate).patient)
        let exchange = await client.exchange(HTTPRequest(url: server.url, timeout: longestWait))
        let error = try #require(failure(of: exchange.result))
        #expect(error == .expired && error.result == .tls && error.failureClass == .network)
        #expect(error.cause == FailureReason(.certificateExpired) && error.cause.label == .tls)
    }

    @Test func pinnedKeyMustMatchTheServer() async throws {
        let server = try TLSServer()
        let right = HTTPClientOptions(caFile: server.certificate, pinnedPublicKey: try server.pin()).patient
        let response = try await makeClient(right).execute(HTTPRequest(url: server.url, timeout: longestWait))
        #expect(response.status == 200)

        let other = "sha256//" + Base64.encode([UInt8](repeating: 1, count: 32))
        let wrong = HTTPClientOptions(caFile: server.certificate, pinnedPublicKey: other).patient
        #expect(
            failure(
                of: await (try makeClient(wrong)).exchange(HTTPRequest(url: server.url, timeout: longestWait)).result
            ) == .tls
        )
    }

    @Test func anchorFileMustContainACertificate() {
        let directory = TemporaryDirectory()
        let paths = [directory.path + "/missing.pem", directory.write("empty.pem", "nothing")]
        for path in paths {
            #expect { try makeClient(HTTPClientOptions(caFile: path)) } throws: { error in
                guard let failure = error as? APIFailure else { return false }
                return failure == .configuration(failure.reason) && failure.hasOwnSentence && failure != .peer
            }
        }
    }
}
