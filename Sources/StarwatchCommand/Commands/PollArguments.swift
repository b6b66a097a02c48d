import ArgumentParser
import Starwatch
import StarwatchCore

/// The poll that `starwatch poll run` runs.
struct PollArguments: ParsableArguments, OneQuestion {
    static let question = Question<PollArguments>(
        ControlAPI.runPoll,
        "run",
        "Run one poll cycle now, with delivery and acknowledgement.",
        about: """
            Uses the running agent if there is one; else this command does the work itself. Exits 0, also when the \
            cycle was skipped, and 1 when it failed.
            """,
        examples: ["starwatch poll starred_projects", "starwatch poll run starred_projects --unless-within 1h"],
        taking: { PollRun($0.name, unlessWithin: try $0.recent()) },
        then: { report, _, arguments in
            let isGood = !["failed", "cancelled"].contains(report.outcome)
            try arguments.print(report, isGood: isGood, PollArguments.line)
        }
    )

    @Argument(help: "The poll's name.", completion: .polls)
    var name: String

    @Option(
        name: .customLong("unless-within"),
        help: ArgumentHelp("Do nothing if the last success is younger than this, such as 1h.", valueName: "time")
    )
    var unlessWithin: String?

    private func recent() throws -> Duration? {
        let possible = Duration.seconds(1)...Duration.seconds(365 * 86_400)
        let rule = "--unless-within must be a time from 1s to 8760h, such as 1h."
        return try unlessWithin.map { try OptionValue.duration($0, in: possible, rule) }
    }
}
