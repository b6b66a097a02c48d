import Foundation
import Yams

/// A file of recording rules and alerts.
struct RuleFile: Decodable {
    struct Group: Decodable {
        let name: String
        let rules: [Rule]
    }

    struct Rule: Decodable {
        let record: String?
        let alert: String?
        let expr: String
        let annotations: [String: String]?

        var query: PlacedQuery {
            let shown = (annotations ?? [:]).values.flatMap { text in
                text.matches(of: /\$labels\.(\w+)/).map { String($0.1) }
            }
            return PlacedQuery(place: alert ?? record ?? "a rule without a name", expression: expr, legend: shown)
        }
    }

    static let path = "alerts/starwatch.rules.yml"

    let groups: [Group]

    static func repository() throws -> RuleFile {
        try YAMLDecoder().decode(RuleFile.self, from: Repository.text(path))
    }

    var rules: [Rule] { groups.flatMap(\.rules) }

    func recordings() throws -> [String: PromQL] {
        var found: [String: PromQL] = [:]
        for rule in rules {
            if let name = rule.record { found[name] = try PromQLParser.parse(rule.expr) }
        }
        return found
    }

    /// The rule file with an hour in a minute and a minute in a second, for tests that run in real time.
    ///
    /// Only `interval:`, `for:` and the ranges in brackets change. Constants stay as they are, so an alert that a test
    /// wants to see must take its limit from what the agent exports.
    static func inSecondsForMinutes() throws -> String {
        let text = try Repository.text(path)
        return text.replacing(/(?<head>interval: |for: |\[)(?<number>\d+)(?<unit>[mhd])(?<tail>\]|\n)/) { match in
            let seconds = Int(match.number)! * (["m": 1, "h": 60, "d": 1440][match.unit] ?? 1)
            return "\(match.head)\(seconds)s\(match.tail)"
        }
    }
}
