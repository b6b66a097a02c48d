import Starwatch

/// A configuration that is good, with where it came from.
struct LoadedConfiguration: Sendable, Hashable {
    var options: AgentOptions
    /// From the path of a setting to the line of the file that sets it; every other is a default.
    var origins: [String: Int]
    /// As the user named it.
    var file: String
}

/// A configuration that is not: every problem of it, in the order of the file.
struct ConfigurationFailure: Error, Sendable, Hashable {
    var file: String
    var problems: [ConfigurationProblem]

    /// A line a problem.
    var lines: [String] { problems.map { $0.description(file: file) } }
}
