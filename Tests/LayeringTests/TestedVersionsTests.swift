import Foundation
import Testing

/// Versions in the README are those in the manifests.
@Suite struct TestedVersionsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(arguments: ["", "Benchmarks/", "Simulation/", "Examples/ReleaseWatcher/", "Examples/HelloPoll/"])
    func everyLowestVersionIsInTheReadme(folder: String) throws {
        let readme = try text("README.md")
        let requirements = try text(folder + "Package.swift")
            .matches(of: /\.package\(url: "[^"]*\/([^"\/]+)", (?<kind>from|exact): "(?<version>[^"]+)"/)
        #expect(!requirements.isEmpty)
        for requirement in requirements {
            #expect(requirement.kind == "from", "hosts can only resolve ranges: \(requirement.0)")
            #expect(readme.contains("\n| \(requirement.1) | \(requirement.version) |\n"), "\(requirement.0)")
        }
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }
}
