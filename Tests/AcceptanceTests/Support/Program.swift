import Foundation
import ProgramTestKit

/// The programs of the distribution that the tests need.
enum Program {
    /// Path of a program.
    ///
    /// - Throws: ``AcceptanceError`` that says what to do when it is not installed: a test must not pass for the lack
    ///   of a tool.
    static func find(
        _ name: String,
        in path: String? = ProcessInfo.processInfo.environment["PATH"],
        or others: [URL] = []
    ) throws -> URL {
        for folder in (path ?? "/usr/bin").split(separator: ":").map({ URL(filePath: String($0)) }) + others {
            let file = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        }
        throw AcceptanceError("\(name) is not installed; run scripts/setup --full, which installs what the tests need.")
    }
}

/// A program that runs until it is stopped. What it says goes to a file.
final class RunningProgram: Sendable {
    private let name: String
    private let process = Process()
    private let log: URL

    /// - Parameter folders: Where the program may be, beside `PATH`.
    convenience init(_ name: String, _ arguments: [String], log: URL, in folders: [URL] = []) throws {
        try self.init(try Program.find(name, or: folders), arguments, log: log)
    }

    init(_ program: URL, _ arguments: [String], log: URL) throws {
        name = program.lastPathComponent
        self.log = log
        try Data().write(to: log)
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = process.standardOutput
        process.standardInput = FileHandle.nullDevice
        try process.start()
    }

    /// Returns when a GET of `url` is answered 200.
    func waitUntilReady(at url: String) async throws {
        let process = self.process
        let ready = await eventually {
            guard process.isRunning else { return false }
            return (try? await HTTP.get(url).status) == 200 ? true : nil
        }
        guard ready == true else {
            let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            throw AcceptanceError("\(name) did not start: \(said.suffix(2000))")
        }
    }

    func stop(with signal: Int32 = SIGTERM) async {
        kill(process.processIdentifier, signal)
        await process.end()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
