import Foundation
import Testing

/// `scripts/simulate replay`: another process repeats exactly the run that one process found.
@Suite struct ReplayTests {
    @Test(arguments: [1, 5, 9])
    func aSeedIsTheSameRunInEveryProcess(seed: Int) async throws {
        let first = try await replay(seed)
        let second = try await replay(seed)
        #expect(first.status == 0, "\(first.output)")
        #expect(first.output == second.output)
        // The end of the trace, with its times, and the totals.
        let lines = first.output.split(separator: "\n")
        #expect(lines.count == 21)
        let areTimed = lines.dropLast().allSatisfy { $0.contains(/^\d+ ./) }
        #expect(areTimed, "\(first.output)")
        let summary = try #require(lines.last)
        #expect(summary.contains(/^[1-9]\d* cycles, [1-9]\d* steps, hash [0-9a-f]+$/), "\(summary)")
    }

    /// Replays a seed in a process of its own; the output includes the errors.
    private func replay(_ seed: Int) async throws -> (status: Int32, output: String) {
        let program = try #require(command)
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = ["replay", "--seed", "\(seed)", "--cycles", "80", "--lines", "20"]
        // Each process gets its own hash seed, whatever the shell has set.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["SWIFT_DETERMINISTIC_HASHING": "0"]) { _, new in new }
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try await Task.detached { try output.fileHandleForReading.readToEnd() ?? Data() }.value
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }

    /// Path of the built command, which SwiftPM puts beside the test bundle.
    private var command: URL? {
        let program = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        return sequence(first: URL(filePath: program)) { $0.path == "/" ? nil : $0.deletingLastPathComponent() }
            .map { $0.appending(path: "starwatch-simulation") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
