import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "check",
        "Check the configuration.",
        """
        Reports every problem with its line, also programs that are missing, ports that are in use, and ports that the \
        service's user cannot open. Sends and writes nothing, and opens no database. Exits 0 when the configuration is valid, else 2.

        Warns of valid settings that are probably a mistake: an empty file, a start without a DID or without plans, polls \
        of offers without a token, a DID whose case differs from its key's, plan ids that cannot exist, a stale limit \
        below the schedule's longest gap, a database folder that does not exist, listening on every address, passwords and tokens in clear text on a network, time zones without a file on this machine, a schedule by day of the month and of the week, a splay beyond the schedule, and intervals below 1m that use a tenth of the limit. With --strict, a warning makes the exit code 1.

        With --render, also prints what each webhook would send for an example notification, with the text of its body_file.
        """,
        examples: [
            "starwatch check", "starwatch check --strict starwatch.yaml", "starwatch check --render",
            "starwatch check --json",
        ]
    )

    @Argument(
        help: ArgumentHelp("The configuration file; the same as --config.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    @Flag(help: "Exit 1 if there are warnings.")
    var strict = false

    @Flag(help: "Print the body of each webhook for an example notification.")
    var render = false

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func validate() throws {
        if file != nil, arguments.config != nil { throw ValidationError("Give the file once.") }
    }

    func run() async throws {
        if format.json { return try await printJSON() }
        let configuration: LoadedConfiguration
        switch try await checked() {
        case .success(let checked): configuration = checked
        case .failure(let failure): throw CommandError.configuration(failure)
        }
        let facts = await configuration.facts.completed(for: configuration.options)
        let warnings = configuration.lines(of: OptionWarning.all(in: configuration.options, facts))
        for warning in warnings { StandardError.sayOnce(warning) }
        let options = configuration.options
        var parts = [options.polls.count.counted("poll"), options.delivery.sinks.count.counted("sink")]
        if !warnings.isEmpty { parts.append(warnings.count.counted("warning")) }
        print(TerminalText.printable("\(configuration.file) is good: \(parts.joined(separator: ", "))."))
        if let note = AgentView.note(on: configuration.file) { print(note) }
        for poll in CheckedPoll.all(configuration.options, facts) { print(poll.text) }
        print(TerminalText.printable("Time zones: \(Self.timeZones.text)"))
        if configuration.options.initialIdentity == nil, let did = facts.keyDID {
            print("The DID of auth.key_file is \(did.rawValue); write it as identity.did.")
        }
        if render { for body in RenderedBody.all(configuration.options) { print(body.text) } }
        if strict, !warnings.isEmpty { throw CommandError.printed(.failed) }
    }

    private static var timeZones: AgentStatus.TimeZones {
        AgentStatus.TimeZones(ZoneDatabase.ofMachine.data, LocalZone.ofMachine)
    }

    private var access: AgentAccess { file.map { AgentAccess(config: $0) } ?? arguments.access }

    /// The configuration after all checks, or its problems with the warnings.
    private func checked() async throws -> Result<LoadedConfiguration, ConfigurationFailure> {
        do {
            let configuration = try access.configuration()
            try await configuration.checkForAgent()
            return .success(configuration)
        } catch {
            guard case .configuration(var failure)? = CommandError(error) else { throw error }
            failure.warnings = await failure.furtherWarnings
            return .failure(failure)
        }
    }

    private func printJSON() async throws {
        var report = CheckReport()
        switch try await checked() {
        case .success(let configuration):
            report.file = configuration.file
            let facts = await configuration.facts.completed(for: configuration.options)
            report.polls = CheckedPoll.all(configuration.options, facts)
            report.timeZones = Self.timeZones
            if render { report.bodies = RenderedBody.all(configuration.options) }
            report.warnings = configuration.problems(of: OptionWarning.all(in: configuration.options, facts))
        case .failure(let failure):
            (report.file, report.problems, report.warnings) = (failure.file, failure.problems, failure.warnings)
        }
        report.valid = report.problems.isEmpty
        print(try JSONOutput.encode(report))
        if !report.valid { throw CommandError.printed(.usage) }
        if strict, !report.warnings.isEmpty { throw CommandError.printed(.failed) }
    }
}

/// A poll of a valid configuration, with its effective stale limit.
private struct CheckedPoll: Encodable {
    var name: String
    var longestGapSeconds: Double
    var staleAfterSeconds: Double

    /// The polls, in the order of the file.
    static func all(_ options: AgentOptions, _ facts: OptionWarning.Facts) -> [CheckedPoll] {
        options.polls.map { poll in
            let gap = facts.longestGaps[poll.name] ?? .zero
            let limit = poll.staleAfter ?? Schedule.staleAfter(longestGap: gap)
            return CheckedPoll(
                name: "\(poll.name)",
                longestGapSeconds: gap.inSeconds,
                staleAfterSeconds: limit.inSeconds
            )
        }
    }

    var text: String {
        let (gap, limit) = (AgeText.duration(longestGapSeconds), AgeText.duration(staleAfterSeconds))
        return "  \(name): up to \(gap) between runs, stale after \(limit) without success."
    }
}

/// The request body of a webhook for an example notification.
private struct RenderedBody: Encodable {
    var sink: String
    var body: String

    /// Those of the webhooks, in the order of the file.
    static func all(_ options: AgentOptions) -> [RenderedBody] {
        options.delivery.sinks.compactMap { sink in
            sink.exampleBody(in: options).map { RenderedBody(sink: sink.name, body: $0) }
        }
    }

    /// The body as it is sent, unless a character could control the terminal.
    var text: String {
        let lines = body.trimmingSpaces.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
            TerminalText.printable(String($0))
        }
        return "The body of \(sink) for an example notification:\n" + lines.joined(separator: "\n")
    }
}

/// The output of `check --json`.
private struct CheckReport: Encodable {
    var file = ""
    var valid = true
    var polls: [CheckedPoll] = []
    var timeZones: AgentStatus.TimeZones?
    /// With `--render`.
    var bodies: [RenderedBody]?
    var problems: [ConfigurationProblem] = []
    var warnings: [ConfigurationProblem] = []
}
