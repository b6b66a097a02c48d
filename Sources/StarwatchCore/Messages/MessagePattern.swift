/// A message in a subset of ICU MessageFormat: `{name}`, `plural` with `=n`, CLDR's categories and `#`, `select`, and
/// apostrophes that quote `{`, `}` and `#`.
///
/// As in ICU, `#` is the number only directly inside a plural's branch. `offset`, `selectordinal` and number or date
/// formats are errors.
public struct MessagePattern: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case text(String)
        case variable(String)
        /// `#`, the number of the enclosing plural.
        case number(String)
        case choice(Choice)
    }

    /// A plural or a select.
    struct Choice: Sendable, Hashable {
        var variable: String
        var isPlural: Bool
        /// By the words of a select, or the categories and `=n` of a plural.
        var branches: [String: [Part]] = [:]

        /// The branch for a value; that of `other` for any other one.
        func branch(for value: MessageArgument?, _ rules: PluralRules) -> [Part] {
            let keys: [String] =
                switch value {
                case .number(let number)? where isPlural: ["=\(number)", rules.category(of: number).rawValue]
                case let word? where !isPlural: [word.text]
                default: []
                }
            return keys.lazy.compactMap { branches[$0] }.first ?? branches["other"] ?? []
        }
    }

    /// The way a message uses a variable.
    public enum Use: Sendable, Hashable { case value, plural, select }

    let parts: [Part]

    /// - Throws: ``MessageError`` with the first mistake and its position.
    public init(_ text: String) throws(MessageError) {
        var parser = MessageParser(text)
        parts = try parser.parse()
    }

    /// The message with its variables replaced. A variable without a value stays visible as `{name}`.
    public func format(_ arguments: [String: MessageArgument], _ rules: PluralRules) -> String {
        var text = ""
        Self.write(parts, arguments, rules, to: &text)
        return text
    }

    /// Every variable with its uses.
    public var uses: [String: Set<Use>] {
        var found: [String: Set<Use>] = [:]
        Self.collect(parts) { part in
            switch part {
            case .text, .number: break
            case .variable(let name): found[name, default: []].insert(.value)
            case .choice(let choice): found[choice.variable, default: []].insert(choice.isPlural ? .plural : .select)
            }
        }
        return found
    }

    /// A mistake of a message that can be parsed.
    enum Mistake: Sendable, Hashable {
        /// Some values make a text without a character that can be seen. Many services refuse it.
        case empty
        case unknownVariable(String)
        /// A plural over text, or a select over a number.
        case wrongKind(String)
    }

    /// The first mistake; `nil` for a good message.
    ///
    /// - Parameter isNumber: The variables that the message can use, and whether the values of each are numbers.
    func mistake(isNumber: [String: Bool]) -> Mistake? {
        if Self.canBeBlank(parts) { return .empty }
        for (name, uses) in uses.sorted(by: { $0.key < $1.key }) {
            guard let isNumber = isNumber[name] else { return .unknownVariable(name) }
            if uses.contains(isNumber ? .select : .plural) { return .wrongKind(name) }
        }
        return nil
    }

    /// A value itself has a character that can be seen.
    private static func canBeBlank(_ parts: [Part]) -> Bool {
        parts.allSatisfy { part in
            switch part {
            case .text(let text): text.allSatisfy(\.isWhitespace)
            case .variable, .number: false
            case .choice(let choice): choice.branches.values.contains(where: canBeBlank)
            }
        }
    }

    static func collect(_ parts: [Part], _ visit: (Part) -> Void) {
        for part in parts {
            visit(part)
            if case .choice(let choice) = part { for branch in choice.branches.values { collect(branch, visit) } }
        }
    }

    private static func write(
        _ parts: [Part],
        _ arguments: [String: MessageArgument],
        _ rules: PluralRules,
        to text: inout String
    ) {
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .variable(let name), .number(let name): text += arguments[name]?.text ?? "{\(name)}"
            case .choice(let choice):
                write(choice.branch(for: arguments[choice.variable], rules), arguments, rules, to: &text)
            }
        }
    }
}

/// The reason why a message is invalid.
public struct MessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The position in characters, from 1.
    public let position: Int
    /// The mistake, without a full stop.
    public let problem: String

    public var description: String { "\(problem) (character \(position))" }
}
