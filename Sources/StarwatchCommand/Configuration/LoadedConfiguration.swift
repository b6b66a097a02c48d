import Starwatch

/// A valid configuration with the origins of its values.
struct LoadedConfiguration: Sendable, Hashable {
    var options: AgentOptions
    /// The lines of the settings that the file gives, by path; the others are defaults.
    var origins: [String: Int]
    /// The file as the user named it.
    var file: String
}

/// The problems of an invalid configuration, in the order of the file.
struct ConfigurationFailure: Error, Sendable, Hashable {
    var file: String
    var problems: [ConfigurationProblem]

    /// One line per problem.
    var lines: [String] { problems.map { $0.description(file: file) } }
}
