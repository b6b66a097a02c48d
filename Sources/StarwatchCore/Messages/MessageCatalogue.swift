import FoundationEssentials

/// The messages of one locale, read from a flat JSON object.
public struct MessageCatalogue: Sendable, Hashable {
    public let locale: LocaleTag
    let rules: PluralRules
    private(set) var patterns: [String: MessagePattern]

    /// The variables of each message, by its key.
    static let variables: [String: Set<MessageVariable>] = {
        var all = Dictionary(uniqueKeysWithValues: MessageKey.allCases.map { ($0.rawValue, $0.variables) })
        for kind in PollKind.allCases {
            for text in PollText.allCases where text.exists(for: kind) { all[text.key(of: kind)] = text.variables }
        }
        return all
    }()

    /// The reason why a catalogue is invalid.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case unknownLanguage
        case notAnObject
        case unknownKey(String)
        case pattern(key: String, MessageError)
        case unknownVariable(key: String, name: String, known: [String])
        /// A plural over text, or a select over a number.
        case wrongKind(key: String, name: String)
        /// A text without a character that can be seen, for some values. Many services refuse it.
        case empty(key: String)

        /// The reason, without a full stop.
        public var description: String {
            switch self {
            case .unknownLanguage: "the plural rules of this language are unknown"
            case .notAnObject: "must be a JSON object of texts"
            case .unknownKey(let key): "there is no message \(key)"
            case .pattern(let key, let error): "\(key): \(error)"
            case .unknownVariable(let key, let name, let known):
                "\(key): there is no variable \(name)"
                    + (known.isEmpty ? "; it has none" : "; use \(known.joined(separator: ", "))")
            case .wrongKind(let key, let name): "\(key): \(name) is a number for plural, or a text for select, not both"
            case .empty(let key):
                "\(key): the text, or a branch that is all of it, is empty; write one, or remove the key"
            }
        }
    }

    /// Parses and checks a catalogue. Missing messages fall back to another locale.
    public init(_ locale: LocaleTag, json: some Sequence<UInt8>) throws(Failure) {
        guard let rules = PluralRules(locale) else { throw .unknownLanguage }
        guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(json)) else {
            throw .notAnObject
        }
        var patterns: [String: MessagePattern] = [:]
        for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
            guard let variables = Self.variables[key] else { throw .unknownKey(key) }
            patterns[key] = try Self.pattern(text, key, variables)
        }
        (self.locale, self.rules, self.patterns) = (locale, rules, patterns)
    }

    private static func pattern(
        _ text: String,
        _ key: String,
        _ variables: Set<MessageVariable>
    ) throws(Failure) -> MessagePattern {
        let pattern: MessagePattern
        do { pattern = try MessagePattern(text) } catch { throw .pattern(key: key, error) }
        let known = Dictionary(uniqueKeysWithValues: variables.map { ($0.rawValue, $0.isNumber) })
        switch pattern.mistake(isNumber: known) {
        case nil: return pattern
        case .empty: throw .empty(key: key)
        case .unknownVariable(let name): throw .unknownVariable(key: key, name: name, known: known.keys.sorted())
        case .wrongKind(let name): throw .wrongKind(key: key, name: name)
        }
    }

    func text(_ key: String, _ arguments: [String: MessageArgument]) -> String? {
        patterns[key]?.format(arguments, rules)
    }

    /// This catalogue, in which the messages of `other` replace its own.
    func overridden(by other: MessageCatalogue) -> MessageCatalogue {
        var result = self
        result.patterns.merge(other.patterns) { $1 }
        return result
    }
}
