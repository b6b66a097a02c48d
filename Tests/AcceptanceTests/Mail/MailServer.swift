import Foundation
import Testing

/// A mail server, aiosmtpd, that keeps what it gets in a folder.
final class MailServer: Sendable {
    /// A kept mail, as Python's `email` reads it.
    struct Mail: Decodable, Sendable {
        let sender: String
        let receivers: [String]
        let fields: [String]
        let id: String
        let references: [String]
        let subject: String
        let from: [[String]]
        let to: [[String]]
        let date: String
        let language: String
        let type: String
        let text: String
        let html: String
        let defects: [String]
        let longest: Int
        let isPlain: Bool
    }

    /// The Python of the distribution, which has aiosmtpd.
    private static let folder = "/usr/bin"
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "mailbox.py").path

    let port: Int
    private let program: RunningProgram
    private let folder: String

    /// - Parameter arguments: Those of `mailbox.py serve` after the folder and the file.
    init(_ arguments: [String] = [], name: String = "mails", in workspace: Workspace) async throws {
        let folder = workspace.path(name)
        let (ready, log) = (folder + ".port", workspace.url.appending(path: name + ".log"))
        try? FileManager.default.removeItem(atPath: ready)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        program = try RunningProgram(
            try Program.find("python3", in: Self.folder),
            [Self.script, "serve", folder, ready] + arguments,
            log: log
        )
        let found = await eventually { try? String(contentsOfFile: ready, encoding: .utf8) }
        guard let port = found.flatMap({ Int($0) }) else {
            let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            throw AcceptanceError("the mail server did not start: \(said.suffix(2000))")
        }
        (self.port, self.folder) = (port, folder)
    }

    var url: String { "smtp://127.0.0.1:\(port)" }

    /// The number of kept mails. One that came again counts once.
    var count: Int {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        return Set(names.filter { $0.hasSuffix(".mail") }.map { $0.drop { $0 != " " } }).count
    }

    /// The kept mails, in the order of their arrival.
    func mails() async throws -> [Mail] {
        let result = try await runToEnd(
            try Program.find("python3", in: Self.folder),
            [Self.script, "read", folder]
        )
        guard result.status == 0 else { throw AcceptanceError(result.errors) }
        return try result.output.split(separator: "\n").map { try JSONDecoder().decode(Mail.self, from: Data($0.utf8)) }
    }

    func stop() async { await program.stop(with: SIGKILL) }
}

/// A certificate for 127.0.0.1 that signs itself.
struct MailCertificate {
    let certificate: String
    let key: String

    init(in workspace: Workspace) async throws {
        (certificate, key) = (workspace.path("mail.pem"), workspace.path("mail.key"))
        let result = try await runToEnd(
            try Program.find("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ]
        )
        guard result.status == 0 else { throw AcceptanceError(result.errors) }
    }
}
