import Foundation
import Testing

/// Versions in the library's documentation are those in the manifests.
@Suite struct TestedVersionsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(
        arguments: [
            "", "Benchmarks/", "Simulation/", "Examples/ReleaseWatcher/", "Examples/HelloPoll/", "Examples/MailSpool/",
        ]
    )
    func everyLowestVersionIsInTheDocumentation(folder: String) throws {
        let page = try text("Sources/Starwatch/Starwatch.docc/Starwatch.md")
        let requirements = try text(folder + "Package.swift")
            .matches(of: /\.package\(url: "[^"]*\/([^"\/]+)", (?<kind>from|exact): "(?<version>[^"]+)"/)
        #expect(!requirements.isEmpty)
        for requirement in requirements {
            #expect(requirement.kind == "from", "hosts can only resolve ranges: \(requirement.0)")
            #expect(page.contains("\n| \(requirement.1) | \(requirement.version) |\n"), "\(requirement.0)")
        }
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }
}
