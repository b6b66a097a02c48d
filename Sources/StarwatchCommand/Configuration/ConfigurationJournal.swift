import Starwatch
import StarwatchHTTP

/// The record of reading one file: every problem, and the line of every value that was given.
final class ConfigurationJournal {
    let files: FileResolver
    private(set) var problems: [ConfigurationProblem] = []
    /// The lines of the keys, by the path of the setting.
    private(set) var origins: [String: Int] = [:]

    /// `true` for a web configuration file.
    let isWeb: Bool
    /// Whether the file says accounts: many. Each account can bring what a sink leaves out.
    var servesMany = false
    /// The web configurations that the file names.
    private(set) var webConfigurations: [ServedPort: WebConfiguration] = [:]

    init(files: FileResolver, isWeb: Bool = false) { (self.files, self.isWeb) = (files, isWeb) }

    func report(_ message: String, at path: String, line: Int?) {
        problems.append(ConfigurationProblem(line: line, path: path, message: message))
    }

    /// Reports a problem of a file that the configuration names on `line`.
    func report(_ problem: ConfigurationProblem, of file: String, at line: Int?) {
        let message = problem.description(file: file)
        problems.append(ConfigurationProblem(line: line, path: "", message: message))
    }

    func note(_ configuration: WebConfiguration, of port: ServedPort) { webConfigurations[port] = configuration }

    /// Notes the line of a good value.
    func note(_ field: SettingsField) { origins[field.path] = field.line }

    /// The line of a good value, or of the first one of a section.
    func line(of path: String) -> Int? {
        origins[path] ?? origins.filter { $0.key.hasPrefix(path + ".") }.values.min()
    }

    /// The problems in the order of the file; those without a line come first.
    var sortedProblems: [ConfigurationProblem] {
        problems.enumerated()
            .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
            .map(\.element)
    }
}
