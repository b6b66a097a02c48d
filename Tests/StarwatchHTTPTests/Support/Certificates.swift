import Foundation
import ProgramTestKit

/// A program that ends by itself.
enum Command {
    struct Output: Sendable {
        var status: Int32
        var text: String
    }

    struct Failure: Error { var text: String }

    /// Runs a program and returns what it wrote to both outputs.
    static func run(
        _ name: String,
        _ arguments: [String],
        in directory: String,
        input: String = ""
    ) async throws -> Output {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.currentDirectoryURL = URL(filePath: directory)
        let out = directory + "/out-" + UUID().uuidString
        try Data().write(to: URL(filePath: out))
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: out))
        process.standardError = process.standardOutput
        let stdin = Pipe.make()
        process.standardInput = stdin
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.start() } catch { continuation.resume(throwing: error) }
            try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try? stdin.fileHandleForWriting.close()
        }
        let text = String(decoding: try Data(contentsOf: URL(filePath: out)), as: UTF8.self)
        return Output(status: process.terminationStatus, text: text)
    }
}

/// A folder with a certificate authority and certificates, made by openssl.
struct Certificates: Sendable {
    let directory: String

    func path(_ name: String) -> String { directory + "/" + name }

    /// Makes `NAME.pem` and `NAME.key`, signed by itself.
    func makeAuthority(_ name: String = "ca") async throws {
        try await openssl(request(name) + ["-addext", "basicConstraints=critical,CA:true"])
    }

    /// Makes `NAME.pem` and `NAME.key`, signed by an authority.
    func issue(_ name: String, by authority: String = "ca", host: String? = nil, days: Int = 2) async throws {
        try await openssl(
            request(name, days: days) + [
                "-CA", "\(authority).pem", "-CAkey", "\(authority).key", "-addext",
                "basicConstraints=critical,CA:false",
                "-addext", "subjectAltName=IP:127.0.0.1,DNS:\(host ?? name + ".test")",
            ]
        )
    }

    private func request(_ name: String, days: Int = 2) -> [String] {
        [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "\(name).key",
            "-out", "\(name).pem", "-subj", "/CN=\(name)", "-days", String(days),
        ]
    }

    private func openssl(_ arguments: [String]) async throws {
        let output = try await Command.run("openssl", arguments, in: directory)
        guard output.status == 0 else { throw Command.Failure(text: output.text) }
    }

    /// The serial number of the certificate that a server shows.
    func serial(of address: String) async throws -> String {
        let shown = try await Command.run("openssl", ["s_client", "-connect", address], in: directory)
        guard let start = shown.text.range(of: "-----BEGIN"), let end = shown.text.range(of: "END CERTIFICATE-----")
        else {
            throw Command.Failure(text: shown.text)
        }
        let pem = String(shown.text[start.lowerBound..<end.upperBound]) + "\n"
        return try await Command.run("openssl", ["x509", "-noout", "-serial"], in: directory, input: pem).text
    }

    func serial(ofFile name: String) async throws -> String {
        try await Command.run("openssl", ["x509", "-noout", "-serial", "-in", name], in: directory).text
    }
}
