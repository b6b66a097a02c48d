/// What is noted while a file is read: every problem, and the line of every value that was given.
final class ConfigurationJournal {
    private(set) var problems: [ConfigurationProblem] = []
    /// From the path of a setting to the line of its key.
    private(set) var origins: [String: Int] = [:]

    func report(_ message: String, at path: String, line: Int?) {
        problems.append(ConfigurationProblem(line: line, path: path, message: message))
    }

    func note(_ path: String, line: Int) {
        origins[path] = line
    }

    /// The problems in the order of the file; those without a line come first.
    var sortedProblems: [ConfigurationProblem] {
        problems.enumerated()
            .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
            .map(\.element)
    }
}
