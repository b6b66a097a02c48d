import ArgumentParser
import Starwatch

struct PollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "Run one poll cycle now, with delivery and acknowledgement.",
        discussion: """
            Goes through the running agent if there is one; else this command does the work itself. Exits 0, also \
            when the cycle was skipped, and 1 when it failed.
            """
    )

    @Argument(help: "The poll's name.")
    var name: String

    @OptionGroup var arguments: AgentArguments
    @OptionGroup var format: FormatArguments

    func run() async throws {
        let name = name
        let report = try await arguments.access.perform { agent throws(CommandError) in try await agent.runPoll(name) }
        try format.print(report, PollReportText.line)
        if report.outcome == "failed" { throw CommandError.pollFailed }
    }
}
