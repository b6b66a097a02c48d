import Foundation
import Testing

/// The map names only what exists.
@Suite struct ArchitectureTests {
    @Test func everyNameOfTheMapExists() throws {
        let map = try String(contentsOf: LayeringTests.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let roots = ["Sources", "Tests", "Simulation"].map { LayeringTests.root.appending(path: $0) }
        let source = try roots.flatMap(LayeringTests.swiftFiles).map { try String(contentsOf: $0, encoding: .utf8) }
            .joined(separator: "\n")
        let words = Set(source.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        // Code spans of one line; the picture is a block of its own.
        let text = map.replacing(/```[\s\S]*?```/, with: "")
        for span in Set(text.matches(of: /`([^`\n]+)`/).map { String($0.1) }) {
            if words.contains(Substring(span.prefix { $0 != "(" })) { continue }
            let places = [span, "Sources/" + span, "Sources/CEmbedded/" + span]
            let exists = places.contains {
                FileManager.default.fileExists(atPath: LayeringTests.root.appending(path: $0).path)
            }
            #expect(exists || span == "code", "ARCHITECTURE.md names \(span), which does not exist")
        }
    }

    @Test func theMapIsShort() throws {
        let map = try String(contentsOf: LayeringTests.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        #expect(map.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    }

    /// Each room of the agent and of the polls is on the map.
    @Test(arguments: ["Starwatch", "StarwatchPolling"])
    func everyRoomIsOnTheMap(target: String) throws {
        let map = try String(contentsOf: LayeringTests.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let folder = LayeringTests.sources.appending(path: target)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where !name.contains(".") { #expect(map.contains("`\(target)/\(name)`"), "\(target)/\(name)") }
    }
}
