import StarwatchCore
import Yams

/// The YAML parser, which turns each error into a problem with its line.
enum YAMLDocument {
    /// The size of the largest accepted file; a configuration is a few kilobytes.
    static let maximumBytes = 1_048_576

    /// The root node; `nil` for a document without one.
    static func parse(_ text: String) throws(ConfigurationProblem) -> Node? {
        do {
            // Only the texts of scalars count, also as keys. Their types would need seven regular expressions: 2 ms of a start.
            return try Yams.compose(yaml: text, .basic)
        } catch let error as YamlError {
            throw problem(error, text: text)
        } catch {
            throw ConfigurationProblem(line: nil, path: "", message: "is not valid YAML; correct its syntax.")
        }
    }

    private static func problem(_ error: YamlError, text: String) -> ConfigurationProblem {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let around = context.map { " (\($0.text.trimmingSpaces))" } ?? ""
            if let mistake = YAMLMistake.find(in: text, at: mark.line, error: problem + around) {
                return ConfigurationProblem(line: mistake.line, path: "", message: mistake.message)
            }
            return ConfigurationProblem(
                line: mark.line,
                path: "",
                message: "is not valid YAML: \(problem.trimmingSpaces)\(around)."
            )
        case .reader(let problem, let offset, _, let yaml):
            let line = offset.map { yaml.prefix($0).count { $0.isNewline } + 1 }
            return ConfigurationProblem(line: line, path: "", message: "is not valid YAML: \(problem.trimmingSpaces).")
        case .duplicatedKeysInMapping(let keys, let context):
            let first = context.mark
            let key = keys.first ?? ""
            let second = lineOfRepeat(of: key, after: first, in: text)
            return ConfigurationProblem(
                line: second ?? first.line,
                path: key,
                message: "is given twice, first on line \(first.line); remove one."
            )
        default:
            return ConfigurationProblem(line: nil, path: "", message: "is not valid YAML; correct its syntax.")
        }
    }

    /// The line of a key's repetition. The parser only gives the place of the first one.
    private static func lineOfRepeat(of key: String, after mark: Mark, in text: String) -> Int? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let indent = String(repeating: " ", count: max(0, mark.column - 1))
        let starts = ["\(indent)\(key):", "\(indent)\"\(key)\":", "\(indent)'\(key)':"]
        return lines.indices.dropFirst(mark.line)
            .first { index in starts.contains { lines[index].hasPrefix($0) } }
            .map { $0 + 1 }
    }
}
