/// A word, sign or literal of PromQL.
enum PromQLToken: Equatable {
    case word(String)
    case number
    case text(String)
    /// Text in brackets: `5m`, `$__rate_interval`.
    case range(String)
    case sign(String)

    /// The tokens of an expression. A `$variable` outside of quotes and brackets counts as a number.
    static func all(in expression: String) throws(PromQL.Failure) -> [PromQLToken] {
        var tokens: [PromQLToken] = []
        var rest = Substring(expression)
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if first == "#" {
                rest = rest.drop { $0 != "\n" }
            } else if isWordStart(first) {
                tokens.append(.word(take(&rest) { isWordStart($0) || isDigit($0) }))
            } else if isDigit(first) || first == "." || first == "$" {
                rest.removeFirst()
                _ = take(&rest) { isDigit($0) || $0 == "." || isWordStart($0) }
                tokens.append(.number)
            } else if "\"'`".contains(first) {
                tokens.append(.text(try quoted(&rest, by: first)))
            } else if first == "[" {
                rest.removeFirst()
                tokens.append(.range(take(&rest) { $0 != "]" }))
                guard rest.popFirst() == "]" else { throw PromQL.Failure(description: "a bracket without its end") }
            } else {
                tokens.append(.sign(try sign(&rest)))
            }
        }
        return tokens
    }

    private static let signs = [
        "=~", "!~", "!=", "==", ">=", "<=", "=", ">", "<", "+", "-", "*", "/", "%", "^", "(", ")", "{", "}", ",",
    ]

    private static func sign(_ rest: inout Substring) throws(PromQL.Failure) -> String {
        guard let found = signs.first(where: { rest.hasPrefix($0) }) else {
            throw PromQL.Failure(description: "cannot read \(rest.prefix(12))")
        }
        rest.removeFirst(found.count)
        return found
    }

    private static func quoted(_ rest: inout Substring, by quote: Character) throws(PromQL.Failure) -> String {
        rest.removeFirst()
        var value = ""
        while let next = rest.popFirst(), next != quote {
            value.append(next)
            if next == "\\", quote != "`", let escaped = rest.popFirst() { value.append(escaped) }
            if rest.isEmpty { throw PromQL.Failure(description: "a quote without its end") }
        }
        return value
    }

    private static func take(_ rest: inout Substring, while belongs: (Character) -> Bool) -> String {
        let taken = rest.prefix(while: belongs)
        rest.removeFirst(taken.count)
        return String(taken)
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    private static func isWordStart(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character == "_" || character == ":")
    }
}
