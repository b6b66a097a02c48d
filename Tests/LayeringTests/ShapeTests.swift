import Foundation
import Testing

/// The sizes that a reader can hold in mind.
@Suite struct ShapeTests {
    /// Catalogues of one declaration each, and a record of one value for each field of an answer.
    private static let catalogues: Set = ["AgentEvent", "AgentStatus", "ControlVerbs"]

    private static let sources = LayeringTests.swiftFiles(below: LayeringTests.sources)

    @Test func noTypeHasMoreThanFortyMembers() throws {
        let members = Self.members(of: try Self.sources.map { try String(contentsOf: $0, encoding: .utf8) })
        // Otherwise the reader of the sources has become blind.
        #expect(members.count > 800 && members["Store", default: 0] > 20)
        for (type, count) in members.sorted(by: { $0.key < $1.key }) where !Self.catalogues.contains(type) {
            #expect(count <= 40, "\(type) has \(count) members")
        }
    }

    @Test func noFileHasMoreThanFiveHundredLines() throws {
        for file in Self.sources {
            let lines = try String(contentsOf: file, encoding: .utf8).count { $0 == "\n" }
            #expect(lines <= 500, "\(file.lastPathComponent) has \(lines) lines")
        }
    }

    @Test func noFolderHasOneFileOnly() {
        let folders = Dictionary(grouping: Self.sources) { $0.deletingLastPathComponent().path }
        #expect(folders.count > 60)
        for (folder, files) in folders { #expect(files.count > 1, "\(folder) has only \(files[0].lastPathComponent)") }
    }

    @Test func noFunctionHasFourParametersWithoutLabels() throws {
        for file in Self.sources {
            let text = try String(contentsOf: file, encoding: .utf8).replacing(/\/\/.*/, with: "")
            for function in Self.crowded(in: text) { Issue.record("\(file.lastPathComponent): \(function)") }
        }
    }

    @Test func aMemberIsADeclarationOfATypeOrOfItsExtensions() {
        let text = """
            struct Outer: Sendable {
                let text = "}"
                struct Inner {
                    var first: Int { 1 }
                    static func second() { let local = 1 }
                }
                case one
            }
            extension Outer {
                private init(_ text: String) { self.text = text }
            }
            """
        #expect(Self.members(of: [text]) == ["Outer": 3, "Outer.Inner": 2])
    }

    @Test func aParameterWithoutALabelIsCountedOnceForEachFunction() {
        #expect(Self.crowded(in: "func f(_ a: Int, _ b: (Int) -> Void,\n _ c: [Int: Int], _ d: Int) {}") == ["f"])
        #expect(Self.crowded(in: "init(_ a: Int, b: (_ x: Int, _ y: Int) -> Void, _ c: Int, _ d: Int) {}") == [])
        #expect(Self.crowded(in: "init(_ a: Int, _ b: Int, c: Closure = { _, _, _ in }) {}") == [])
    }

    /// The number of members of each type. A case is none.
    private static func members(of texts: [String]) -> [String: Int] {
        let declaration =
            /(?:(?:@\w+(?:\([^)]*\))?|[a-z]+(?:\([a-z]+\))?) +)*?(func|var|let|init|subscript|struct|class|enum|actor|typealias|extension|protocol)\b *([\w.]*)/
        let types: Set<Substring> = ["struct", "class", "enum", "actor", "extension", "protocol"]
        // Most lines declare nothing, and the expression takes far longer than a look at the words. `actor:` is a label.
        let words = types.union(["func", "var", "let", "init", "init?", "subscript", "typealias"])
        var members: [String: Int] = [:]
        for text in texts {
            var depth = 0
            var open: [(name: String, depth: Int)] = []
            for line in text.split(separator: "\n") {
                let line = line.drop { $0 == " " }
                guard !line.hasPrefix("//") else { continue }
                let isPlain = !line.utf8.contains(UInt8(ascii: "\"")) && !line.contains("//")
                let code =
                    isPlain ? line : line.replacing(/"(?:\\.|[^"\\])*"/, with: "").replacing(/\/\/.*/, with: "")[...]
                let declares = code.split { " (<".contains($0) }.contains { words.contains($0) }
                if declares, let match = code.prefixMatch(of: declaration) {
                    if let type = open.last, depth == type.depth + 1, match.1 != "extension" {
                        members[type.name, default: 0] += 1
                    }
                    if types.contains(match.1) {
                        let parent = match.1 == "extension" ? nil : open.last?.name
                        open.append(([parent, String(match.2)].compactMap(\.self).joined(separator: "."), depth))
                    }
                }
                depth += code.count { $0 == "{" } - code.count { $0 == "}" }
                while let type = open.last, depth <= type.depth, code.contains("}") { open.removeLast() }
            }
        }
        return members
    }

    /// The functions with four or more parameters that have no label.
    private static func crowded(in text: String) -> [String] {
        text.matches(of: /\b(?:func (\S+?)|init[?]?|subscript)(?:<[^>(]*>)?\(/).compactMap { match in
            var (depth, parameters) = (1, 0)
            var before: Character = "("
            for character in text[match.range.upperBound...] {
                if "([{".contains(character) { depth += 1 }
                if ")]}".contains(character) { depth -= 1 }
                if depth == 0 { break }
                if depth == 1, character == "_", before == "(" || before == "," { parameters += 1 }
                if !character.isWhitespace { before = character }
            }
            return parameters >= 4 ? String(match.1 ?? "init") : nil
        }
    }
}
