import ArgumentParser
import Starwatch

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "version",
        "Print the versions of the program, its database, rules and libraries.",
        """
        With --verbose it also prints the version of every Swift package of the build and of every C library in \
        use. "starwatch --version --verbose" prints the same.
        """,
        examples: ["starwatch version", "starwatch version --verbose", "starwatch version --verbose --json"]
    )

    @Flag(help: "Also print the versions of all packages and libraries.")
    var verbose = false

    @OptionGroup var format: FormatArguments

    func run() throws {
        try format.print(VersionReport(rules: Finding.rulesVersion, withParts: verbose), Self.text)
    }

    static func text(_ report: VersionReport) -> String {
        let program = TextTable.pairs([
            ("starwatch", report.version), ("Commit", report.commit), ("Platform", report.platform),
            ("Schema", "\(report.schema)"), ("Rules", "\(report.rules)"), ("Swift", report.swift),
            ("SQLite", report.sqlite), ("libcurl", report.libcurl),
        ])
        guard let parts = report.parts else { return program }
        func table(_ versions: [PartVersion]) -> String {
            TextTable.pairs(versions.map { ("  " + $0.name, $0.version) })
        }
        return [
            program, "", "Swift packages", parts.packagesUnknown.map { "  " + $0 } ?? table(parts.packages), "",
            "C libraries", table(parts.libraries),
        ].joined(separator: "\n")
    }
}
