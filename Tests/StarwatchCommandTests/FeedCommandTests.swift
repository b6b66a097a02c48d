import ArgumentParser
import Foundation
import StarwatchHTTP
import Testing

@testable import StarwatchCommand

/// The private address of the feed, without an agent.
@Suite struct FeedCommandTests {
    private let folder: TemporaryFolder
    /// The file of the token in the address.
    private var made: String { folder.path + "/feed.token" }

    init() throws { folder = try TemporaryFolder() }

    /// Writes a configuration, and its control token with a mode.
    private func configuration(sinks: String = "[{name: feed, kind: feed}]", mode: Int = 0o600) throws -> String {
        try folder.write("a-token-of-some-length\n", to: "token", mode: mode)
        return try folder.write(
            """
            storage: {path: \(folder.path)/starwatch.db}
            control: {socket: \(folder.path)/s, listen: "127.0.0.1:9465", token_file: token, feed_token_file: feed.token}
            delivery: {sinks: \(sinks)}
            """,
            to: "starwatch.yaml"
        )
    }

    @Test func aTokenIsMadeOrReplacedOnlyIfTheWholeConfigurationIsGood() async throws {
        let bad = try configuration(mode: 0o644)
        await #expect(throws: CommandError.self) { try await FeedCommand.Address.parse(["--config", bad]).run() }
        #expect(!FileManager.default.fileExists(atPath: made))
        let former = "0123456789abcdef0123456789abcdef\n"
        try folder.write(former, to: "feed.token")
        await #expect(throws: CommandError.self) { try await FeedCommand.Rotate.parse(["--config", bad]).run() }
        #expect(try String(contentsOfFile: made, encoding: .utf8) == former)

        let good = try configuration()
        try await FeedCommand.Rotate.parse(["--config", good]).run()
        #expect(try String(contentsOfFile: made, encoding: .utf8) != former)
        try FileManager.default.removeItem(atPath: made)
        try await FeedCommand.Address.parse(["--config", good]).run()
        #expect(FileManager.default.fileExists(atPath: made))
    }

    @Test func withoutASinkThatFillsTheFeedThereIsNoAddress() async throws {
        let file = try configuration(sinks: "[{name: log, kind: log}]")
        let error = await #expect(throws: CommandError.self) {
            try await FeedCommand.Address.parse(["--config", file]).run()
        }
        #expect(error?.exitCode == .usage && error?.sentences.first?.hasPrefix("Add a sink of kind feed first") == true)
        #expect(!FileManager.default.fileExists(atPath: made))
    }

    @Test(arguments: [
        ("agent.test:9465", false, "http://agent.test:9465", "agent.test:9465"),
        ("agent.test:9465", true, "https://agent.test:9465", "agent.test:9465"),
        ("https://agent.test", false, "https://agent.test", "agent.test"),
        ("https://agent.test/starwatch/", false, "https://agent.test/starwatch", "agent.test"),
        ("http://[::1]:9465", true, "http://[::1]:9465", "[::1]:9465"),
    ])
    func theAddressOfAProxyIsAURL(text: String, isEncrypted: Bool, address: String, host: String) throws {
        let root = try FeedRoot(text, isEncrypted: isEncrypted)
        #expect(root.address == address && root.host == host)
    }

    @Test(arguments: [
        "", "https://", "ftp://a.test", "https://me:secret@a.test", "https://a.test/?x=1", "a b", "a.test:x",
    ])
    func anyOtherTextIsNoHost(text: String) {
        let error = #expect(throws: CommandError.self) { try FeedRoot(text, isEncrypted: false) }
        #expect(error?.sentences.first?.hasPrefix("--host must be HOST:PORT, or a URL") == true)
    }

    @Test func aHostThatTheAgentRefusesIsTold() throws {
        let policy = HostPolicy(own: "agent.lan", allowed: ["agent.test"])
        for host in ["agent.test:9465", "https://AGENT.test", "agent.lan:1", "10.0.0.1:9465", "localhost:1", "[::1]:1"]
        {
            #expect(try FeedRoot(host, isEncrypted: false).warning(policy) == nil, "\(host)")
        }
        let warning = try FeedRoot("https://other.test:8443/x", isEncrypted: false).warning(policy)
        #expect(warning?.contains("the host other.test; add it to http.allowed_hosts") == true)
    }
}
