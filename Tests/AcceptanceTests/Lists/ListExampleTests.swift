import Foundation
import ProgramTestKit
import Testing

/// The examples of lists as their pages run them: the built mock plays the API, and the built agent watches it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ListExampleTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let folder: String
        let poll: String
        /// The member of an item with its name.
        let name: String
        /// The member of an item with its version.
        let version: String

        var testDescription: String { folder }
    }

    private static let examples = [
        Example(folder: "forge-releases", poll: "releases", name: "title", version: "updated_at"),
        Example(folder: "incidents", poll: "incidents", name: "name", version: "updated_at"),
        Example(folder: "orders", poll: "orders", name: "number", version: "changed_at"),
    ]

    @Test(arguments: examples)
    func whatIsAddedAfterTheStartIsAnnouncedOnceThoughTheAgentIsKilled(example: Example) async throws {
        let world = try await ListExampleWorld(example.folder)
        let arguments = ["poll", "try", example.poll, "--config", world.config]
        let tried = try await starwatch(arguments, isPatient: false)
        #expect(tried.status == 0, "\(tried.output)\(tried.errors)")

        let first = try await world.start()
        await first.pages.waitForPoll(of: example.poll)
        let item = try world.item()
        try await world.put(item)
        // Before or after it was announced.
        await first.killNow()

        let second = try await world.start()
        // The same item again is no news.
        try await world.put(item)
        var later = item
        later["id"] = "later"
        later[example.name] = "after the kill"
        later[example.version] = "2026-08-01T09:00:00Z"
        try await world.put(later)
        let arrived = await eventually { world.announced.count >= 2 ? true : nil }
        #expect(arrived == true, "\(second.logText.suffix(2000))")
        await second.killNow()

        let third = try await world.start()
        let series = "starwatch_poll_success_total{poll=\"\(example.poll)\"}"
        let polled = await eventually { (try? await third.pages.metric(series)) ?? 0 >= 3 ? true : nil }
        #expect(polled == true)
        let name = try #require(item[example.name]?.text)
        #expect(world.announced.sorted() == [name, "after the kill"].sorted())
        #expect(await third.stop() == 0)
        await world.mock.stop()
    }
}

/// The files of an example in a workspace, and the mock of its page.
private struct ListExampleWorld: Sendable {
    /// The address in the example's files.
    private static let address = "http://127.0.0.1:8099"

    let mock: RunningProgram
    let workspace: Workspace
    private let server: String
    /// The example's README.
    private let page: String

    var config: String { workspace.path("starwatch.yaml") }

    init(_ folder: String) async throws {
        let path = "Examples/Lists/\(folder)"
        page = try Repository.text("\(path)/README.md")
        workspace = try Workspace()
        let port = try FreePort.take()
        server = "http://127.0.0.1:\(port)"
        let program = Binary.starwatch.deletingLastPathComponent().appending(path: "mock-endorser")
        try #require(
            FileManager.default.isExecutableFile(atPath: program.path),
            "The mock is not built. Run: swift build --product mock-endorser"
        )
        mock = try RunningProgram(
            program,
            ["--port", "\(port)", "--json", Repository.root.appending(path: "\(path)/api.json").path],
            log: workspace.url.appending(path: "mock.log")
        )
        try await mock.waitUntilReady(at: server + "/mock/state")
        try writeConfiguration(of: path)
    }

    /// Writes the example's configuration for this mock, with a file as its sink and free ports. The page says what else it needs.
    private func writeConfiguration(of path: String) throws {
        var yaml = try Repository.text("\(path)/starwatch.yaml")
        let changes = [
            (Self.address, server), ("every: 10s", "every: 1s"),
            ("    - name: screen\n      kind: stdout", TestConfiguration.file(workspace)),
        ]
        for (part, other) in changes {
            try #require(yaml.contains(part), "\(path)/starwatch.yaml has no \(part)")
            yaml = yaml.replacing(part, with: other)
        }
        yaml += """
            storage: {path: \(workspace.path("starwatch.db"))}
            http: {listen: "127.0.0.1:0"}
            control: {socket: \(workspace.path("s.sock"))}

            """
        try workspace.write(yaml, to: "starwatch.yaml")
        if let secret = page.firstMatch(of: #/echo '([^']+)' > ([a-z.]+)\)/#) {
            try workspace.write(secret.1 + "\n", to: String(secret.2))
        }
    }

    func start() async throws -> RunningAgent { try await RunningAgent(config: config, in: workspace) }

    /// The command of the page that puts an item into the list.
    private func command() throws -> (url: String, body: String) {
        let command = try #require(page.firstMatch(of: #/\ncurl -X POST '([^']+)' -d '([^']+)'\n/#))
        return (String(command.1).replacing(Self.address, with: server), String(command.2))
    }

    /// The item of the page.
    func item() throws -> [String: JSON] {
        try JSONDecoder().decode([String: JSON].self, from: Data(command().body.utf8))
    }

    /// Puts an item at the newest end of the list.
    func put(_ item: [String: JSON]) async throws {
        let body = String(decoding: try JSONEncoder().encode(item), as: UTF8.self)
        let answer = try await HTTP.post(body, to: command().url)
        #expect(answer.status == 200, "\(answer.body)")
    }

    /// The names of all announced changes.
    var announced: [String] {
        let text = (try? String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(JSON.self, from: Data($0.utf8)) }
            .flatMap { $0["changes"].list }.compactMap { $0["name"].text }
    }
}
