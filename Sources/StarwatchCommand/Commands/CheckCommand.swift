import ArgumentParser
import Foundation
import Starwatch

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the configuration.",
        discussion: """
            Reports every problem with its line. Sends and writes nothing, and opens no database. Exits 0 when the configuration is \
            valid, else 2.

            Warns of valid settings that are probably a mistake: an empty file, polls of offers without a token, a DID \
            whose case differs from its key's, plan ids that cannot exist, a database folder that does not exist, \
            listening on every address, passwords and tokens in clear text on a network, and intervals below 1m. With --strict, a warning makes the exit code 1.

            Examples:
              starwatch check
              starwatch check --strict --config starwatch.yaml
              starwatch check --json
            """
    )

    @Flag(help: "Exit 1 if there are warnings.")
    var strict = false

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func run() async throws {
        if format.json { return try await printJSON() }
        let configuration = try arguments.access.configuration()
        do throws(AgentError) {
            try await Agent.check(configuration.options)
        } catch {
            throw CommandError.agent(error)
        }
        let warnings = configuration.lines(
            of: await Agent.warnings(about: configuration.options, configuration.facts)
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
        do throws(CommandError) {
            let configuration = try arguments.access.configuration()
            report.file = configuration.file
            do throws(AgentError) {
                try await Agent.check(configuration.options)
                report.warnings = configuration.problems(
                    of: await Agent.warnings(about: configuration.options, configuration.facts)
                )
            } catch {
                report.problems = [ConfigurationProblem(line: nil, path: "", message: error.message)]
            }
        } catch .configuration(let failure) {
            (report.file, report.problems) = (failure.file, failure.problems)
        }
        print(try JSONText.encode(report))
        if !report.isValid { throw CommandError.printed(.usage) }
        if strict, !report.warnings.isEmpty { throw CommandError.printed(.failed) }
    }
}

/// The output of `check --json`.
private struct CheckReport: Encodable {
    var file = ""
    var isValid: Bool { problems.isEmpty }
    var problems: [ConfigurationProblem] = []
    var warnings: [ConfigurationProblem] = []

    enum CodingKeys: CodingKey { case file, valid, problems, warnings }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(isValid, forKey: .valid)
        try container.encode(problems, forKey: .problems)
        try container.encode(warnings, forKey: .warnings)
    }
}
