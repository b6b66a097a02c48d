import ArgumentParser
import Foundation
import Starwatch

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "check",
        "Check the configuration.",
        """
        Reports every problem with its line. Sends and writes nothing, and opens no database. Exits 0 when the configuration is \
        valid, else 2.

        Warns of valid settings that are probably a mistake: an empty file, polls of offers without a token, a DID \
        whose case differs from its key's, plan ids that cannot exist, a database folder that does not exist, \
        listening on every address, passwords and tokens in clear text on a network, and intervals below 1m. With --strict, a warning makes the exit code 1.
        """,
        examples: "starwatch check",
        "starwatch check --strict --config starwatch.yaml",
        "starwatch check --json"
    )

    @Flag(help: "Exit 1 if there are warnings.")
    var strict = false

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func run() async throws {
        if format.json { return try await printJSON() }
        let configuration = try arguments.access.configuration()
        try await Agent.check(configuration.options)
        let warnings = configuration.lines(
            of: await OptionWarning.found(in: configuration.options, configuration.facts)
        )
        for warning in warnings { FileHandle.standardError.write(Data((TerminalText.printable(warning) + "\n").utf8)) }
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        var parts = [
            count(configuration.options.polls.count, "poll"), count(configuration.options.delivery.sinks.count, "sink"),
        ]
        if !warnings.isEmpty { parts.append(count(warnings.count, "warning")) }
        print(TerminalText.printable("\(configuration.file) is good: \(parts.joined(separator: ", "))."))
        if strict, !warnings.isEmpty { throw CommandError.printed(.failed) }
    }

    private func printJSON() async throws {
        var report = CheckReport()
        do {
            let configuration = try arguments.access.configuration()
            report.file = configuration.file
            try await Agent.check(configuration.options)
            report.warnings = configuration.problems(
                of: await OptionWarning.found(in: configuration.options, configuration.facts)
            )
        } catch let error as AgentError {
            report.problems = [ConfigurationProblem(line: nil, path: "", message: error.message)]
        } catch CommandError.configuration(let failure) {
            (report.file, report.problems) = (failure.file, failure.problems)
        }
        report.valid = report.problems.isEmpty
        print(try JSONOutput.encode(report))
        if !report.valid { throw CommandError.printed(.usage) }
        if strict, !report.warnings.isEmpty { throw CommandError.printed(.failed) }
    }
}

/// The output of `check --json`.
private struct CheckReport: Encodable {
    var file = ""
    var valid = true
    var problems: [ConfigurationProblem] = []
    var warnings: [ConfigurationProblem] = []
}
