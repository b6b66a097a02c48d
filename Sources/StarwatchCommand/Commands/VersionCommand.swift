import ArgumentParser
import Starwatch

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the versions of the program, its commit, database and rules.",
        discussion: """
            Examples:
              starwatch version
              starwatch version --json
            """
    )

    @OptionGroup var format: FormatArguments

    func run() throws {
        try format.print(ProgramVersion()) { version in
            TextTable.pairs([
                ("Version", version.version), ("Commit", version.commit), ("Swift", version.swift),
                ("Schema", "\(version.schema)"), ("Rules", "\(version.rules)"),
            ])
        }
    }
}

/// The versions of everything that has one.
private struct ProgramVersion: Encodable {
    var version = AgentVersion.current
    var commit = AgentVersion.commit
    var swift = AgentVersion.swift
    /// That of the database.
    var schema = HostDatabase.versions.upperBound
    /// That of `alerts/starwatch.rules.yml`.
    var rules = RulesFinding.version
}
