import StarwatchCore
import Yams

/// The rule of a setting's value: how it is parsed, checked and printed.
struct Rule<Value> {
    /// The value as YAML.
    var print: (Value) -> String
    /// Returns the value, or `nil` after reporting what is wrong with it.
    var read: (SettingsField) -> Value?
    /// The value as `config print` shows it, without secrets.
    var show: (Value) -> String
    /// The problem of a file without the value; `nil` for a setting with a default.
    var needed: String?
    /// Whether ``needed`` does not hold with accounts: many, because each account can bring the value.
    var isLeftToAccounts = false
    /// The choices, which begin the comment. The reference alone lists those that are too long for the line of a file.
    var choices = (text: "", areLong: false)
    /// The limits, which end the comment.
    var limits = ""

    init(print: @escaping (Value) -> String, read: @escaping (SettingsField) -> Value?) {
        (self.print, self.read, show) = (print, read, print)
    }

    /// The comment of a setting, in the reference or in a file.
    func comment(_ text: String, inReference: Bool) -> String {
        let listed = inReference || !choices.areLong ? choices.text : ""
        let comment = [listed, text].filter { !$0.isEmpty }.joined(separator: "; ")
        if limits.isEmpty { return comment }
        return comment.isEmpty ? limits : "\(comment) (\(limits))"
    }

    /// Accepts null too.
    var orNull: Rule<Value?> {
        var rule = Rule<Value?>(print: { $0.map(print) ?? "null" }) {
            $0.isNull ? .some(nil) : read($0).map(Optional.some)
        }
        rule.show = { $0.map(show) ?? "null" }
        (rule.needed, rule.choices, rule.limits) = (needed, choices, limits)
        rule.isLeftToAccounts = isLeftToAccounts
        return rule
    }

    func needed(_ problem: String) -> Rule { with { $0.needed = problem } }

    func shown(_ show: @escaping (Value) -> String) -> Rule { with { $0.show = show } }

    var secret: Rule { shown { _ in "<secret>" } }

    private func with(_ change: (inout Rule) -> Void) -> Rule {
        var rule = self
        change(&rule)
        return rule
    }

    /// A value made of this one, and its own way of printing.
    func map<Other>(
        to print: @escaping (Other) -> String,
        _ make: @escaping (Value, SettingsField) -> Other?
    ) -> Rule<Other> {
        Rule<Other>(print: print) { field in read(field).flatMap { make($0, field) } }
    }

    /// Adds a check, which returns what is wrong with a value, or `nil`.
    func checked(limits: String = "", _ problem: @escaping (Value, SettingsField) -> String?) -> Rule {
        with { rule in
            rule.limits = limits
            rule.read = { field in
                guard let value = read(field) else { return nil }
                guard let problem = problem(value, field) else { return value }
                return field.reject(problem)
            }
        }
    }

    /// A scalar, which `parse` reads or rejects.
    static func scalar(
        _ expected: String,
        _ print: @escaping (Value) -> String,
        _ parse: @escaping (String, SettingsField) -> Value?
    ) -> Rule {
        Rule(print: print) { field in field.scalar(expected).flatMap { parse($0, field) } }
    }

    /// A scalar that is not text, so it has no quotes.
    ///
    /// - Parameter intended: Returns the value that a wrong text probably means.
    private static func plain(
        _ expected: String,
        intended: @escaping (String) -> String? = { _ in nil },
        _ parse: @escaping (String) -> Value?
    ) -> Rule {
        scalar(expected, { "\($0)" }) { text, field in
            if let value = parse(text) {
                return field.node?.isPlain == true ? value : field.reject("must be \(expected); remove the quotes.")
            }
            let tail = intended(text).map { "; write \($0)." } ?? "."
            return field.reject("must be \(expected)\(tail)")
        }
    }

    /// A scalar with a unit.
    private static func unit(
        _ expected: String,
        _ print: @escaping (Value) -> String,
        _ parse: @escaping (String) throws(UnitTextError) -> Value
    ) -> Rule {
        scalar(expected, print) { text, field in
            do throws(UnitTextError) { return try parse(text) } catch { return field.reject(error.description) }
        }
    }
}

extension Rule<Int> {
    static func integer(_ range: ClosedRange<Int>) -> Rule {
        plain("a whole number", intended: { Int($0.filter { $0 != "," && $0 != "_" }).map(String.init) }) { Int($0) }
            .within(range) { "\($0)" }
    }

    /// A number of bytes.
    static func size(_ range: ClosedRange<Int>) -> Rule {
        unit("a size such as 10MiB", ByteSizeText.format, ByteSizeText.parse).within(range, ByteSizeText.format)
    }
}

extension Rule where Value: Comparable {
    fileprivate func within(_ range: ClosedRange<Value>, _ format: (Value) -> String) -> Rule {
        let (low, high) = (format(range.lowerBound), format(range.upperBound))
        return checked(limits: "\(low) to \(high)") { value, _ in
            range.contains(value) ? nil : "must be between \(low) and \(high)."
        }
    }
}

extension Rule<Double> {
    static func number(_ range: ClosedRange<Double>) -> Rule {
        plain("a number") { Double($0) }.within(range) { Int(exactly: $0).map(String.init) ?? "\($0)" }
    }

    static var fraction: Rule {
        // `80%` and `80` mean 0.8.
        func percentage(_ text: String) -> String? {
            let number = Int(text.hasSuffix("%") ? text.dropLast() : text[...])
            return number.flatMap { (2...100).contains($0) ? "\(Double($0) / 100)" : nil }
        }
        return plain("a number between 0 and 1", intended: percentage) {
            Double($0).flatMap { (0...1).contains($0) ? $0 : nil }
        }
    }
}

extension Rule<Bool> {
    fileprivate static let words = [
        "yes": "true", "on": "true", "1": "true", "y": "true", "no": "false", "off": "false", "0": "false",
        "n": "false",
    ]

    static var flag: Rule {
        plain("true or false", intended: { words[$0.lowercased()] }) { Bool($0.lowercased()) }
    }
}

extension Rule<QuarantinePolicy> {
    static var quarantine: Rule {
        var rule = plain("true, false or after 3", intended: { Rule<Bool>.words[$0.lowercased()] }, Value.init)
        rule.choices.text = "after 3 | true | false"
        return rule
    }
}

extension Rule<Duration> {
    static func duration(_ least: Duration = .zero, _ most: Duration = .days(3650)) -> Rule {
        let (low, high) = (DurationText.format(least), DurationText.format(most))
        let isOpen = most == .days(3650)
        let limits =
            isOpen ? (least > .zero ? "at least \(low)" : "") : least > .zero ? "\(low) to \(high)" : "at most \(high)"
        return unit("a duration such as 30s", DurationText.format, DurationText.parse).checked(limits: limits) {
            value,
            _ in
            value < least ? "must be at least \(low)." : value > most ? "must be at most \(high)." : nil
        }
    }
}

extension Rule where Value: CaseIterable & RawRepresentable<String> {
    /// - Parameters:
    ///   - isLong: Whether the reference alone lists the choices.
    ///   - aliases: Other words for a choice.
    static func choice(isLong: Bool = false, aliases: [String: String] = [:]) -> Rule {
        let words = Value.allCases.map(\.rawValue)
        return Choice.rule(of: words, isLong: isLong, \.rawValue) { Value(rawValue: aliases[$0] ?? $0) }
    }
}

/// The rules of a choice among words.
enum Choice {
    /// - Parameter words: The choices, which the reference alone lists.
    static func rule(of words: [String]) -> Rule<String> {
        rule(of: words, isLong: true, \.self) { words.contains($0) ? $0 : nil }
    }

    fileprivate static func rule<Value>(
        of words: [String],
        isLong: Bool,
        _ print: @escaping (Value) -> String,
        _ make: @escaping (String) -> Value?
    ) -> Rule<Value> {
        let all = words.joined(separator: ", ")
        var rule = Rule<Value>.scalar("one of \(all)", print) { text, field in
            make(text) ?? field.reject("must be one of \(all)\(Suggestion.tail(for: text, among: words))")
        }
        rule.choices = (words.joined(separator: " | "), isLong)
        return rule
    }
}

extension Duration {
    static func days(_ count: Int) -> Duration { .hours(count * 24) }
    static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
}
