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
        case plural(Plural)
        case select(Select)
    }

    struct Plural: Sendable, Hashable {
        var variable: String
        var exact: [Int: [Part]] = [:]
        var categories: [PluralCategory: [Part]] = [:]
    }

    struct Select: Sendable, Hashable {
        var variable: String
        var branches: [String: [Part]] = [:]
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
            case .plural(let plural): found[plural.variable, default: []].insert(.plural)
            case .select(let select): found[select.variable, default: []].insert(.select)
            }
        }
        return found
    }

    /// Whether some values make a text without a character that can be seen. A value itself has one.
    var canBeBlank: Bool { Self.canBeBlank(parts) }

    private static func canBeBlank(_ parts: [Part]) -> Bool {
        parts.allSatisfy { part in
            switch part {
            case .text(let text): text.allSatisfy(\.isWhitespace)
            case .variable, .number: false
            case .plural(let plural):
                plural.exact.values.contains(where: canBeBlank) || plural.categories.values.contains(where: canBeBlank)
            case .select(let select): select.branches.values.contains(where: canBeBlank)
            }
        }
    }

    static func collect(_ parts: [Part], _ visit: (Part) -> Void) {
        for part in parts {
            visit(part)
            switch part {
            case .text, .variable, .number: break
            case .plural(let plural):
                for branch in plural.exact.values { collect(branch, visit) }
                for branch in plural.categories.values { collect(branch, visit) }
            case .select(let select): for branch in select.branches.values { collect(branch, visit) }
            }
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
            case .plural(let plural):
                var branch = plural.categories[.other]
                if case .number(let number)? = arguments[plural.variable] {
                    branch = plural.exact[number] ?? plural.categories[rules.category(of: number)] ?? branch
                }
                write(branch ?? [], arguments, rules, to: &text)
            case .select(let select):
                let branch = arguments[select.variable].flatMap { select.branches[$0.text] }
                write(branch ?? select.branches["other"] ?? [], arguments, rules, to: &text)
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
