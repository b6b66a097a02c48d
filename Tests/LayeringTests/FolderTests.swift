import Foundation
import Testing

/// Rooms are features: the folders of a target reference one another in one direction only.
///
/// An arrow is a reference from a file of one folder to a type that another folder of the target declares at the top
/// level of a file.
@Suite struct FolderTests {
    /// Rooms of the agent in the order in which a change passes them; each sees only those before it.
    static let rooms = [
        "Options", "Environment", "Account", "Polling", "Delivery/Sinks", "Delivery", "Acknowledgement",
    ]

    @Test(arguments: LayeringTests.allowed.keys.sorted())
    func foldersOfATargetFormNoCircle(target: String) throws {
        let arrows = try Self.arrows(of: target)
        var open = Set(arrows.keys)
        // Folders without an open arrow are removed until none is left; what remains is a circle.
        while let free = open.first(where: { Set(arrows[$0]!.keys).isDisjoint(with: open) }) { open.remove(free) }
        for folder in open.sorted() {
            for (other, names) in arrows[folder]! where open.contains(other) {
                Issue.record("\(target)/\(folder) references \(other): \(names.sorted().prefix(3))")
            }
        }
    }

    @Test func roomsSeeOnlyThoseBeforeThem() throws {
        let arrows = try Self.arrows(of: "Starwatch")
        for (index, room) in Self.rooms.enumerated() {
            let known = try #require(arrows[room], "there is no folder \(room)")
            for later in Self.rooms[(index + 1)...] {
                #expect(known[later] == nil, "\(room) references \(later): \(known[later]?.sorted() ?? [])")
            }
        }
    }

    @Test func aReferenceIsAnArrow() {
        let files = [
            "A": ["struct First { let other: Second }"], "B": ["struct Second {} // First", "let text = \"First\""],
        ]
        #expect(Self.arrows(of: files.mapValues { $0.map(Self.code) }) == ["A": ["B": ["Second"]], "B": [:]])
    }

    private typealias Arrows = [String: [String: Set<String>]]

    private static func arrows(of target: String) throws -> Arrows {
        let root = LayeringTests.sources.appending(path: target)
        var files: [String: [String]] = [:]
        for file in LayeringTests.swiftFiles(below: root) {
            let folder = file.deletingLastPathComponent().path.dropFirst(root.path.count + 1)
            files[folder.isEmpty ? "." : String(folder), default: []].append(
                code(try String(contentsOf: file, encoding: .utf8))
            )
        }
        return arrows(of: files)
    }

    private static func arrows(of files: [String: [String]]) -> Arrows {
        let declaration =
            /(?:^|\n)(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|final|indirect|nonisolated) )*(?:struct|class|enum|actor|protocol|typealias) ([A-Z]\w*)/
        let nested = /(?:struct|class|enum|actor|protocol|typealias|case) ([A-Z]\w*)/
        var home: [String: String] = [:]
        for (folder, texts) in files.sorted(by: { $0.key < $1.key }) {
            for text in texts { for match in text.matches(of: declaration) { home[String(match.1)] = folder } }
        }
        var arrows: Arrows = files.mapValues { _ in [:] }
        for (folder, texts) in files {
            // A type that the folder declares itself, also inside another type, is meant by its name there.
            let own = Set(texts.flatMap { $0.matches(of: nested).map { String($0.1) } })
            for text in texts {
                for match in text.matches(of: /(?:^|[^\w.])([A-Z]\w*)/) {
                    let name = String(match.1)
                    guard let other = home[name], other != folder, !own.contains(name) else { continue }
                    arrows[folder]![other, default: []].insert(name)
                }
            }
        }
        return arrows
    }

    /// Removes comments and literals.
    private static func code(_ text: String) -> String {
        text.replacing(/"""[\s\S]*?"""/, with: "").replacing(/\/\/[^\n]*/, with: "")
            .replacing(/"(?:\\.|[^"\\\n])*"/, with: "")
    }
}
