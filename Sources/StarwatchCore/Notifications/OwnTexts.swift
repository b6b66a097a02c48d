/// The texts of a poll's own, parsed.
package struct OwnTexts: Sendable, Hashable {
    private let title, single, several: MessagePattern?
    /// The variables of ``single``.
    private let variables: [String]

    /// Leaves a text that cannot be parsed to the catalogue. ``PollTexts/problems(fields:)`` names those.
    ///
    /// - Returns: `nil` if there is no text.
    package init?(_ texts: PollTexts) {
        func parsed(_ text: String?) -> MessagePattern? { text.flatMap { try? MessagePattern($0) } }
        (title, single, several) = (parsed(texts.title), parsed(texts.single), parsed(texts.several))
        guard title != nil || single != nil || several != nil else { return nil }
        variables = single.map { Array($0.uses.keys) } ?? []
    }

    /// The title of a number of changes; `nil` if there is none.
    func title(count: Int, in locale: LocaleTag) -> String? { title.map { Self.counted($0, count, locale) } }

    /// The text of several changes; `nil` if there is none.
    func several(count: Int, in locale: LocaleTag) -> String? { several.map { Self.counted($0, count, locale) } }

    /// The text of one change; `nil` if there is none, or if nobody could see it.
    ///
    /// - Parameter name: The name to show.
    func single(_ change: Change, name: String, in locale: LocaleTag) -> String? {
        guard let single else { return nil }
        var values = change.details?.fields ?? [:]
        values[Variable.name.rawValue] = name
        values[Variable.id.rawValue] = change.plan
        values[Variable.link.rawValue] = change.details?.link
        // Items need not have all fields.
        let arguments = variables.map { variable in
            let value = values[variable].map { BidiText.isolated($0, isRightToLeft: locale.isRightToLeft) }
            return (variable, MessageArgument.text(value ?? ""))
        }
        let text = single.format(Dictionary(uniqueKeysWithValues: arguments), Self.rules(of: locale))
        return text.allSatisfy(\.isWhitespace) ? nil : text
    }

    private static func counted(_ pattern: MessagePattern, _ count: Int, _ locale: LocaleTag) -> String {
        pattern.format([Variable.count.rawValue: .number(count)], rules(of: locale))
    }

    private static func rules(of locale: LocaleTag) -> PluralRules { PluralRules(locale) ?? .english }

    /// The variables that are no fields.
    fileprivate enum Variable: String, CaseIterable {
        case name, id, link, count
    }
}

extension PollTexts {
    /// Returns the problem of each text that has one, as a sentence without its subject, by the key of the text.
    ///
    /// - Parameter fields: The names of the poll's fields.
    package func problems(fields: Set<String>) -> [(key: String, problem: String)] {
        let counted = [OwnTexts.Variable.count.rawValue: true]
        var named = Dictionary(uniqueKeysWithValues: fields.map { ($0, false) })
        for variable in OwnTexts.Variable.allCases where variable != .count { named[variable.rawValue] = false }
        let texts = [("title", title, counted), ("single", single, named), ("several", several, counted)]
        return texts.compactMap { key, text, known in
            text.flatMap { Self.problem(of: $0, isNumber: known) }.map { (key, $0) }
        }
    }

    private static func problem(of text: String, isNumber known: [String: Bool]) -> String? {
        let pattern: MessagePattern
        do { pattern = try MessagePattern(text) } catch { return "cannot be read: \(error). Correct it." }
        return switch pattern.mistake(isNumber: known) {
        case nil: nil
        case .empty: "is empty, or a branch that is all of it; write a text, or remove the key."
        case .unknownVariable(let name):
            "has no variable {\(name)}; use \(known.keys.sorted().map { "{\($0)}" }.joined(separator: ", "))."
        case .wrongKind(let name):
            known[name] == true
                ? "uses the number \(name) in a select; use plural." : "uses the text \(name) in a plural; use select."
        }
    }
}
