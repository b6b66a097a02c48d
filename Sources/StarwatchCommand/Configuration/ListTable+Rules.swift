import Foundation
import Starwatch
import StarwatchCore

extension ListTable {
    /// A place in a JSON value.
    static var pointer: Rule<JSONPointer> {
        .scalar("a JSON pointer such as /id", { ConfigurationPrinter.scalar($0.rawValue) }) { text, field in
            if let pointer = JSONPointer(text) { return pointer }
            if let meant = meant(text) { return field.reject("must be a JSON pointer (RFC 6901); write \(meant).") }
            return field.reject(JSONPointer.problem(of: text) ?? "must be a JSON pointer such as /id.")
        }
    }

    /// The pointer that a path such as `$.data[0].id` or `.data.id` probably means; `nil` for any other text.
    private static func meant(_ text: String) -> String? {
        guard text.wholeMatch(of: /\$?\.?[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+|\[[0-9]+\])+|\$?\.[A-Za-z0-9_\-]+/) != nil
        else { return nil }
        let steps = text.drop { $0 == "$" }.split { ".[]".contains($0) }
        return steps.map { "/" + $0 }.joined()
    }
}

extension ListTable {
    /// The conditions of an answer.
    static var expectations: Rule<[JSONPoll.Expectation]> {
        Rule {
            ConfigurationPrinter.flow($0.map(\.setting))
        } read: { field in
            if field.isNull { return [] }
            guard let items = field.items else {
                return field.reject("must be a list, such as [{pointer: /status, equals: ok}].")
            }
            let conditions = items.compactMap(condition)
            return conditions.count == items.count ? conditions : nil
        }
        .checked(limits: "at most 16") { conditions, _ in
            conditions.count > 16 ? "must have at most 16 conditions; found \(conditions.count)." : nil
        }
    }

    private static func condition(_ item: SettingsField) -> JSONPoll.Expectation? {
        if item.isNull { return item.reject("must be a condition, such as {pointer: /status, equals: ok}.") }
        guard let section = item.section else { return nil }
        let tests = ["exists", "equals", "at_least"]
        section.allow(["pointer"] + tests)
        guard section.has("pointer") else { return section.reject("needs pointer, the place in the answer; add it.") }
        let place = pointer.read(section.field("pointer"))
        let given = tests.filter(section.has)
        guard given.count == 1 else {
            return section.reject(
                given.isEmpty
                    ? "needs exists, equals or at_least; add one."
                    : "has two tests; keep one of exists, equals and at_least."
            )
        }
        guard let test = test(section.field(given[0])), let place else { return nil }
        return JSONPoll.Expectation(place, test)
    }

    private static func test(_ field: SettingsField) -> JSONPoll.Expectation.Test? {
        switch field.key {
        case "exists":
            guard let flag = Rule<Bool>.flag.read(field) else { return nil }
            return flag ? .exists : field.reject("must be true; a condition cannot want that a value is missing.")
        case "equals": return field.scalar("text or a number").map { .equals($0) }
        default: return Rule<Double>.number(-1e15...1e15).read(field).map { .atLeast($0) }
        }
    }
}

extension JSONPoll.Expectation {
    /// The condition as settings.
    fileprivate var setting: [(key: String, value: String)] {
        let value: (String, String) =
            switch test {
            case .exists: ("exists", "true")
            case .equals(let text): ("equals", ConfigurationPrinter.scalar(text))
            case .atLeast(let number): ("at_least", Int(exactly: number).map(String.init) ?? "\(number)")
            }
        return [("pointer", ConfigurationPrinter.scalar(place.rawValue)), value]
    }
}

extension ConfigurationPrinter {
    /// A list of sections in one line.
    fileprivate static func flow(_ items: [[(key: String, value: String)]]) -> String {
        let sections = items.map { "{" + $0.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}" }
        return "[\(sections.joined(separator: ", "))]"
    }
}

/// The checks of values of lists.
extension ValueRules {
    /// Accepts the same as ``url(_:allowsQuery:)`` without a query, and any path.
    static func listURL(_ text: String) -> String? {
        if URLComponents(string: text)?.query != nil {
            return "must end with its path; move what follows ? to query, such as query: {limit: 50}."
        }
        return url(text, allowsQuery: true)
    }

    /// Accepts the name of a parameter, before percent-encoding.
    static func parameter(_ text: String) -> String? {
        let isName = text.unicodeScalars.allSatisfy {
            $0.value > 32 && $0.value != 127 && !"&=?#".unicodeScalars.contains($0)
        }
        return isName && (1...100).contains(text.utf8.count)
            ? nil : "must be the name of a parameter, such as cursor, without spaces, &, =, ? and #."
    }

    static func parameterValue(_ text: String) -> String? {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 32 && !(127...159).contains($0.value) }
        return isPlain && text.utf8.count <= 2000 ? nil : "must have at most 2000 bytes without control characters."
    }

    /// The names that texts have for the parts of every item.
    private static let partsOfItems: Set = ["id", "name", "link", "count", "poll", "title"]

    /// Accepts the name of a field of an item.
    static func fieldName(_ text: String) -> String? {
        if partsOfItems.contains(text) { return "is a name that texts have already; choose another one." }
        return PollName(text) != nil
            ? nil : "must be a name of lower-case letters, digits and _, starting with a letter, at most 63 long."
    }
}
