import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The built example "Hello Poll", a host application without an agent, against the mock server.
@Suite(.serialized) struct HelloPollTests {
    @Test func everyChangeIsGreetedAndAcknowledgedOnceAcrossARestartAndARateLimit() async throws {
        let workspace = try Workspace()
        var options = MockServerOptions()
        options.requestsPerMinute = nil
        let mock = MockServer(options: options)
        try await mock.start()
        do {
            var ids = mock.publish(count: 3)
            let first = try HelloProgram(mock, workspace)
            try await first.greets(ids, mock)
            mock.script(.rateLimited(retryAfter: .seconds(1)), .status(500), at: .plansChanged)
            ids += mock.publish(count: 120)
            try await first.greets(ids, mock)
            // It greets twice rather than never if it is stopped between the acknowledgement and the watermark.
            #expect(await Self.stores(ids.last, workspace))
            #expect(await first.stop(SIGTERM) == 0)

            ids += mock.publish(count: 2)
            let second = try HelloProgram(mock, workspace)
            try await second.greets(ids, mock)
            #expect(await Self.stores(ids.last, workspace))
            #expect(await second.stop(SIGTERM) == 0)
            let agents = Set(mock.requests(to: .plansChanged).map { $0.header("User-Agent") ?? "" })
            #expect(agents.count == 1 && agents.first?.hasPrefix("HelloPoll/1.0 Starwatch/") == true)
        } catch {
            try? await mock.stop()
            throw error
        }
        try await mock.stop()
    }

    private static func stores(_ watermark: String?, _ workspace: Workspace) async -> Bool {
        let (path, query) = (workspace.path("hello.db"), "SELECT watermark FROM host_watermarks")
        return await eventually {
            let stored: [String?]? = try? Database.strings(path, query)
            return stored == [watermark] ? true : nil
        } == true
    }
}

/// The running example.
private final class HelloProgram: Sendable {
    private let process = Process()
    private let output: URL

    init(_ mock: MockServer, _ workspace: Workspace) throws {
        output = workspace.url.appending(path: "hello.out")
        if !FileManager.default.fileExists(atPath: output.path) { try Data().write(to: output) }
        let handle = try FileHandle(forWritingTo: output)
        try handle.seekToEnd()
        let program = Binary.starwatch.deletingLastPathComponent().appending(path: "HelloPoll")
        try #require(
            FileManager.default.isExecutableFile(atPath: program.path),
            "The example is not built. Run: scripts/beside Examples/HelloPoll build"
        )
        process.executableURL = program
        process.arguments = [mock.url, workspace.url.path] + mock.planIDs
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.start()
    }

    /// Waits until exactly these changes were greeted, in their order, and acknowledged.
    func greets(_ ids: [String], _ mock: MockServer) async throws {
        let found = await eventually { () -> Bool? in
            guard process.isRunning else { return false }
            return greeted == ids && mock.acknowledgedIDs == ids ? true : nil
        }
        #expect(found == true, "it said: \((try? String(contentsOf: output, encoding: .utf8)) ?? "")")
    }

    private var greeted: [String] {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.hasPrefix("Hello, ") }.compactMap {
            $0.split(separator: " ").last
        }
        .map(String.init)
    }

    func stop(_ signal: Int32) async -> Int32 {
        kill(process.processIdentifier, signal)
        return await process.end()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
