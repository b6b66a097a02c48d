import Foundation
import Starwatch

/// A folder of its own for one test, removed with the value that made it.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "starwatch-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String {
        url.appending(path: name).path(percentEncoded: false)
    }

    /// Writes a file only its owner may read, as secrets must be.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}

extension AgentOptions {
    /// Gives the polls tokens, which polls of offers need. The mock does not check them by default.
    mutating func useTokens(in folder: TestFolder) {
        auth.kind = .tokenPool
        let tokens = (0..<200).map { "token\($0).of.tests" }
        auth.tokensFile = try? folder.write(tokens.joined(separator: "\n"), to: "tokens")
    }
}
