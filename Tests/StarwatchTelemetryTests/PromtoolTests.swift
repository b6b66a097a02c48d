import Foundation
import ProgramTestKit
import Testing

@testable import StarwatchTelemetry

@Suite struct PromtoolTests {
    static let path = "/usr/bin/promtool"
    /// Without the tool the test is skipped, but not in CI, where it fails.
    static let isExpected =
        FileManager.default.isExecutableFile(atPath: path) || ProcessInfo.processInfo.environment["CI"] != nil

    @Test(.enabled(if: isExpected, "promtool is not installed; run scripts/setup."))
    func promtoolAcceptsTheTextPage() async throws {
        let page = try await makeRepresentativeRegistry().render(.text)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.path)
        process.arguments = ["check", "metrics"]
        let input = Pipe.make()
        let output = Pipe.make()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.start()
        try input.fileHandleForWriting.write(contentsOf: Data(page))
        try input.fileHandleForWriting.close()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        #expect(await process.end() == 0, "\(String(decoding: said, as: UTF8.self))")
    }
}
