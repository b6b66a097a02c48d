/// Parses one message from left to right.
struct MessageParser {
    private typealias Part = MessagePattern.Part

    /// The surroundings of the parsed text.
    private enum Place {
        case top
        /// Inside a branch; `number` is the variable of a directly enclosing plural.
        case branch(number: String?)
    }

    /// The deepest nesting: deeper than a readable message, and safe for the stack.
    private static let deepest = 8

    private let characters: [Character]
    private var index = 0
    private var depth = 0

    init(_ text: String) { characters = Array(text) }

    mutating func parse() throws(MessageError) -> [MessagePattern.Part] { try parts(.top) }

    private mutating func parts(_ place: Place) throws(MessageError) -> [Part] {
        var parts: [Part] = []
        var text = ""
        func flush() {
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
        }
        while let character = next {
            switch character {
            case "{":
                flush()
                parts.append(try argument())
            case "}":
                guard case .branch = place else { throw error("a } without a { before it") }
                flush()
                return parts
            case "#":
                index += 1
                if case .branch(let number?) = place {
                    flush()
                    parts.append(.number(number))
                } else {
                    text.append(character)
                }
            case "'": quoted(place, into: &text)
            default:
                index += 1
                text.append(character)
            }
        }
        guard case .top = place else { throw error("a { without a } after it") }
        flush()
        return parts
    }

    /// Parses an apostrophe. Two are a literal one; one before a special character quotes up to the next; any other is
    /// literal.
    private mutating func quoted(_ place: Place, into text: inout String) {
        index += 1
        if next == "'" {
            index += 1
            return text.append("'")
        }
        var isSpecial = next == "{" || next == "}"
        if case .branch(_?) = place, next == "#" { isSpecial = true }
        guard isSpecial else { return text.append("'") }
        while let character = next {
            index += 1
            if character == "'" {
                guard next == "'" else { return }
                index += 1
            }
            text.append(character)
        }
    }

    private mutating func argument() throws(MessageError) -> Part {
        index += 1
        let name = try word("a variable")
        if take("}") { return .variable(name) }
        try expect(",")
        let start = index
        let kind = try word("plural or select")
        try expect(",")
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("more than \(Self.deepest) levels of plural and select") }
        guard kind == "plural" || kind == "select" else {
            index = start
            skipSpaces()
            throw error("only plural and select are supported here")
        }
        var choice = MessagePattern.Choice(variable: name, isPlural: kind == "plural")
        while !take("}") {
            let start = index
            let key = choice.isPlural ? try pluralKey() : try word("a word or }")
            let branch = try branch(number: choice.isPlural ? name : nil)
            guard choice.branches.updateValue(branch, forKey: key) == nil else {
                throw error("\(key) is repeated", at: start)
            }
        }
        guard choice.branches["other"] != nil else { throw error("a \(kind) needs a branch for other") }
        return .choice(choice)
    }

    /// Parses `=n` or a category.
    private mutating func pluralKey() throws(MessageError) -> String {
        let start = index
        guard take("=") else {
            let word = try self.word("a category or }")
            if PluralCategory(rawValue: word) != nil { return word }
            let words = PluralCategory.allCases.map(\.rawValue).joined(separator: ", ")
            throw error("a plural's branches are =n, \(words)", at: start)
        }
        let digits = try word("a number")
        guard let number = Int(digits), number >= 0, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            throw error("a number must follow =", at: start)
        }
        return "=\(number)"
    }

    private mutating func branch(number: String?) throws(MessageError) -> [Part] {
        try expect("{")
        let parts = try self.parts(.branch(number: number))
        index += 1
        return parts
    }

    // MARK: Characters

    private var next: Character? { index < characters.count ? characters[index] : nil }

    private mutating func skipSpaces() { while next?.isWhitespace == true { index += 1 } }

    /// Parses letters, digits and `_`, surrounded by optional spaces.
    private mutating func word(_ what: String) throws(MessageError) -> String {
        skipSpaces()
        var word = ""
        while let character = next, character.isASCII, character.isLetter || character.isNumber || character == "_" {
            word.append(character)
            index += 1
        }
        guard !word.isEmpty else { throw error("expected \(what)") }
        skipSpaces()
        return word
    }

    private mutating func take(_ character: Character) -> Bool {
        skipSpaces()
        guard next == character else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ character: Character) throws(MessageError) {
        guard take(character) else { throw error("expected \(character)") }
    }

    private func error(_ problem: String, at place: Int? = nil) -> MessageError {
        MessageError(position: (place ?? index) + 1, problem: problem)
    }
}
