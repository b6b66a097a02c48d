import ArgumentParser
import Starwatch

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the versions of the program, its database, rules and libraries.",
        discussion: """
            Examples:
              starwatch version
              starwatch version --json
            """
    )

    @OptionGroup var format: FormatArguments

    func run() throws {
        try format.print(VersionReport(rules: RulesFinding.version)) { report in
            TextTable.pairs([
                ("starwatch", report.version), ("Commit", report.commit), ("Platform", report.platform),
                ("Schema", "\(report.schema)"), ("Rules", "\(report.rules)"), ("Swift", report.swift),
                ("SQLite", report.sqlite), ("libcurl", report.libcurl),
            ])
        }
    }
}
