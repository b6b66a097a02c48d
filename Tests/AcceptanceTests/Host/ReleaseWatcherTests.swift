import Foundation
import ProgramTestKit
import Testing

/// The built example of a host application, a package of its own.
@Suite(.serialized) struct ReleaseWatcherTests {
    @Test func everyReleaseAppearsOnceAndARestartGoesOnWhereItWas() async throws {
        let (server, workspace) = (try FeedServer(), try Workspace())
        server.publish("1.0.0")
        let first = try Watcher(server, workspace)
        try await first.lines(["1.0.0"], in: workspace)
        server.publish("1.1.0")
        server.publish("1.2.0")
        try await first.lines(["1.0.0", "1.1.0", "1.2.0"], in: workspace)
        // Its own counter, and the manager's, are on the agent's page.
        let address = try #require(
            await eventually { first.log.firstMatch(of: /127\.0\.0\.1:\d+/).map { String($0.0) } }
        )
        let page = try await HTTP.get("http://\(address)/metrics").body
        #expect(
            page.contains("\nreleases_announced_total 3\n"),
            "\(page.split(separator: "\n").filter { $0.contains("releases") })"
        )
        #expect(page.contains(/\nstarwatch_host_polls_total\{outcome="ok"\} [1-9]/))
        #expect(await first.stop(SIGTERM) == 0, "\(first.log)")

        let asked = server.validators.count
        server.publish("1.3.0")
        let second = try Watcher(server, workspace)
        try await second.lines(["1.0.0", "1.1.0", "1.2.0", "1.3.0"], in: workspace)
        // It asked with what it had been told before.
        #expect(server.validators[asked] == "\"3\"")
        // The line comes before the watermark: a death between the two says the same again.
        let database = workspace.path("releases.db")
        let (watermark, last) = ("SELECT watermark FROM host_watermarks", "2026-01-04T12:00:00Z 1.3.0")
        #expect(await eventually { (try? Database.strings(database, watermark)) == [last] ? true : nil } == true)
        _ = await second.stop(SIGKILL)
        let third = try Watcher(server, workspace)
        let known = server.validators.count
        #expect(await eventually { server.validators.count > known + 1 ? true : nil } == true)
        try await third.lines(["1.0.0", "1.1.0", "1.2.0", "1.3.0"], in: workspace)
        #expect(await third.stop(SIGTERM) == 0)
        #expect(try Database.strings(database, "SELECT schedule_id FROM poll_schedules") == ["releases"])
        #expect(try Database.strings(database, watermark) == [last])
    }

    /// Code in an article is an example's or a test's, line by line; only how far it is indented differs.
    @Test(arguments: [("HostApps", 7), ("HostSinks", 2), ("TestingWithTheMock", 2)])
    func theArticlesCodeIsTheExamples(article: String, least: Int) throws {
        let root = Repository.root
        let folders = [
            "Examples/ReleaseWatcher/Sources/ReleaseWatcher", "Examples/HelloPoll/Sources/HelloPoll",
            "Examples/MailSpool/Sources/MailSpool", "Examples/TestedTally/Tests/TallyTests",
            "Tests/StarwatchTests/Host",
        ]
        let files = try folders.flatMap {
            try FileManager.default.contentsOfDirectory(at: root.appending(path: $0), includingPropertiesForKeys: nil)
        }
        let sources = try files.filter { $0.pathExtension == "swift" }
            .map { try lines(String(contentsOf: $0, encoding: .utf8)) }
        let text = try Repository.text("Sources/Starwatch/Starwatch.docc/\(article).md")
        let snippets = text.components(separatedBy: "```swift\n").dropFirst().map {
            lines($0.components(separatedBy: "```")[0])
        }
        #expect(snippets.count >= least)
        for snippet in snippets {
            #expect(
                sources.contains { $0.contains(snippet) },
                "not in an example or a test:\n\(snippet.joined(separator: "\n"))"
            )
        }
    }

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

/// The running example.
private final class Watcher: Sendable {
    private let process = Process()
    private let errors: URL

    init(_ server: FeedServer, _ workspace: Workspace) throws {
        let output = workspace.url.appending(path: "out")
        errors = workspace.url.appending(path: "err-\(UUID().uuidString)")
        for file in [output, errors] where !FileManager.default.fileExists(atPath: file.path) {
            try Data().write(to: file)
        }
        let handle = try FileHandle(forWritingTo: output)
        try handle.seekToEnd()
        let program = Binary.starwatch.deletingLastPathComponent().appending(path: "ReleaseWatcher")
        try #require(
            FileManager.default.isExecutableFile(atPath: program.path),
            "The example is not built. Run: scripts/beside Examples/ReleaseWatcher build"
        )
        process.executableURL = program
        process.arguments = [server.url, workspace.url.path]
        process.standardOutput = handle
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try process.start()
    }

    var log: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// Waits until these releases were announced, and no others.
    func lines(_ versions: [String], in workspace: Workspace) async throws {
        let expected = versions.map { "New release: \($0)\n" }.joined()
        let output = workspace.url.appending(path: "out")
        let found = await eventually { () -> Bool? in
            guard process.isRunning else { return false }
            return try? String(contentsOf: output, encoding: .utf8) == expected ? true : nil
        }
        let said = try String(contentsOf: output, encoding: .utf8)
        #expect(found == true, "it said: \(said)\(log)")
    }

    func stop(_ signal: Int32) async -> Int32 {
        kill(process.processIdentifier, signal)
        return await process.end()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
