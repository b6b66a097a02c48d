import ArgumentParser
import Starwatch
import StarwatchCore

struct NextRunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "next-runs",
        "Show the next runs of a poll or a digest.",
        """
        One line for each run: the local time with its offset, UTC, and the effect of daylight saving time: "gap" \
        if the local time is skipped and the run comes right after, "fold" if the local time happens twice. A poll \
        with "every" is shown as if it ran now. A digest with a "window" is shown at the window's start.
        """,
        examples: "starwatch next-runs starred_projects",
        "starwatch next-runs starred_projects --count 5 --json"
    )

    @Argument(help: "The name of a poll or a digest.", completion: NameCompletion.pollsAndDigests)
    var name: String

    @Option(help: "The number of runs.")
    var count = 20

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func validate() throws {
        guard (1...10_000).contains(count) else { throw ValidationError("--count must be between 1 and 10000.") }
    }

    func run() async throws {
        let options = try arguments.access.configuration(secrets: false).options
        let runs: NextRuns
        if let digest = options.digests.first(where: { $0.name.rawValue == name }) {
            runs = NextRuns(digest, after: SystemClock().now, count: count)
        } else if let poll = options.polls.first(where: { $0.name.rawValue == name }) {
            runs = NextRuns(poll, after: SystemClock().now, count: count)
        } else {
            let names = options.polls.map(\.name.rawValue) + options.digests.map(\.name.rawValue)
            let tail = Suggestion.nearest(to: name, among: names).map { "did you mean \"\($0)\"?" }
            throw CommandError.failed(
                "There is no poll \"\(name)\"; \(tail ?? "the polls are \(names.joined(separator: ", ")).")"
            )
        }
        try format.print(runs, \.text)
    }
}
