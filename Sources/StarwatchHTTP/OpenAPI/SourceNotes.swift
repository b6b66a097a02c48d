import CEmbedded
import Starwatch

/// The comments of declarations, and the types that they name, read from the sources that are part of the program.
///
/// The description of the control API so has the sentence that stands at a field or verb, and no other.
struct SourceNotes: Sendable {
    struct Note: Sendable {
        /// The comment in the words of JSON; empty without one.
        var text: String
        /// The last name in the declared type: `TimeText` of `[String: TimeText]?`; empty without one.
        var type = ""

        /// The first sentence, without its full stop.
        var summary: String {
            let end = text.firstRange(of: ". ")?.lowerBound
            return String(text[..<(end ?? text.endIndex)].reversed().drop { $0 == "." }.reversed())
        }
        /// The other sentences; `nil` if there are none.
        var details: String? { text.firstRange(of: ". ").map { String(text[$0.upperBound...]) } }
    }

    /// The notes by paths such as `AgentStatus.Poll.kind`.
    private(set) var notes: [String: Note] = [:]

    static let embedded = SourceNotes(String(decoding: [UInt8](starwatch_sources()), as: UTF8.self))

    private static let types: Set<Substring> = ["struct", "enum", "class", "extension"]
    private static let modifiers: Set<Substring> = [
        "public", "package", "private", "static", "internal(set)", "package(set)",
    ]

    /// - Parameter source: Swift as `swift format` writes it. Its indentation says what contains what.
    init(_ source: String) {
        var scopes: [Substring] = []
        var comment: [Substring] = []
        // The cases of coding keys are fields of the type around them.
        var keys: Set<String> = []
        for line in source.split(separator: "\n") {
            let code = line.drop { $0 == " " }
            if code.hasPrefix("///") {
                comment.append(code.dropFirst(4))
                continue
            }
            defer { comment = [] }
            let depth = (line.utf8.count - code.utf8.count) / 4
            scopes.removeLast(max(0, scopes.count - depth))
            // Inside a function, names are local.
            guard scopes.count == depth, !scopes.contains("") else { continue }
            let words = code.split(separator: " ").drop { Self.modifiers.contains($0) }
            guard let keyword = words.first, let word = words.dropFirst().first else { continue }
            let name = word.prefix { $0.isLetter || $0.isNumber || $0 == "." }
            let path = (scopes + [name]).joined(separator: ".")
            if Self.types.contains(keyword) {
                if keyword != "extension" { notes[path] = Note(text: Self.text(comment)) }
                scopes.append(name)
                if code.contains("CodingKey") { keys.insert(path) }
            } else if keyword == "case", keys.contains(scopes.joined(separator: ".")) {
                let field = (scopes.dropLast() + [name]).joined(separator: ".")
                notes[field] = notes[field] ?? Note(text: Self.text(comment))
            } else if keyword == "var" || keyword == "let" {
                notes[path] = Note(text: Self.text(comment), type: Self.type(code))
            } else if code.hasSuffix("{") {
                scopes.append("")
            }
        }
    }

    subscript(_ path: String) -> Note? { notes[path] }

    private static func type(_ code: Substring) -> String {
        guard let colon = code.firstRange(of: ": ") else { return code.hasSuffix("= false") ? "Bool" : "" }
        let rest = code[colon.upperBound...]
        let end = rest.firstIndex { "={".contains($0) } ?? rest.endIndex
        return rest[..<end].split { !$0.isLetter && !$0.isNumber }.last.map(String.init) ?? ""
    }

    /// A property has the name of its key, and `nil` is absent.
    private static func text(_ comment: [Substring]) -> String {
        let lines = comment.prefix { !$0.hasPrefix("- ") }
        return lines.split(separator: "").map { $0.joined(separator: " ") }.joined(separator: "\n\n")
            .replacing(/``(?:\w+\/)?([a-z]\w*)``/) { "`\(ControlJSON.snake(String($0.1)))`" }.replacing("``", with: "`")
            .replacing(/(^|\. )`nil`/) { "\($0.1)Absent" }.replacing("`nil`", with: "absent")
    }
}

extension [UInt8] {
    /// The bytes of files that are part of the program.
    init(_ file: starwatch_file) { self.init(UnsafeBufferPointer(start: file.bytes, count: file.count)) }
}
