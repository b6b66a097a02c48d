import ArgumentParser
import Starwatch

struct DigestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "digests",
        abstract: "List the digests, or fetch or show one now.",
        discussion: """
            Uses the running agent if there is one, else the database. Without a subcommand it lists.
            """,
        subcommands: [List.self, Fetch.self, Show.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "list",
            "List the next digests and the results of the last ones.",
            """
            One line for each occurrence of the last and the next day. "planned" is not armed yet. The text uses \
            "fresh" content, older "cached" content, or the "fallback". "NAME/now" was shown by command.
            """,
            examples: "starwatch digests",
            "starwatch digests list --json"
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            try arguments.print(try await arguments.ask(ControlAPI.listDigests).digests, DigestsText.lines)
        }
    }

    struct Fetch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "fetch",
            "Fetch a digest's content now.",
            """
            Makes one attempt of at most 12 s, in addition to the scheduled ones, and updates an armed digest. \
            Exits 1 if the attempt fails.
            """,
            waiting: ControlAPI.fetchDigest.patience,
            examples: "starwatch digests fetch daily"
        )

        @Argument(help: "The digest's name.", completion: NameCompletion.digests)
        var name: String

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            try await arguments.show(ControlAPI.fetchDigest, name, isGood: \.isFresh, DigestsText.line)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "show",
            "Show a digest now.",
            """
            Shows the stored content if it has not expired, else the fallback, in addition to the digest's times \
            and under an id of its own. Fetches nothing.
            """,
            waiting: ControlAPI.showDigest.patience,
            examples: "starwatch digests show daily"
        )

        @Argument(help: "The digest's name.", completion: NameCompletion.digests)
        var name: String

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await arguments.show(ControlAPI.showDigest, name, DigestsText.line) }
    }
}

/// Digests for a person.
enum DigestsText {
    static func lines(_ digests: [DigestReport]) -> String {
        guard !digests.isEmpty else { return "No digests are configured." }
        let titles = ["DIGEST", "TIME", "STATUS", "TEXT", "FETCH", "WHY"]
        let rows = digests.flatMap { digest in
            digest.occurrences.map { occurrence in
                [
                    occurrence.slot, occurrence.fireAt, occurrence.status, occurrence.text ?? "-", occurrence.fetch,
                    occurrence.errorCode ?? "-",
                ]
            }
        }
        let contents = digests.map { digest in
            ("\(digest.name)", "\(digest.mode), \(digest.timezone), content of \(digest.contentAt ?? "never")")
        }
        return TextTable.pairs(contents) + "\n\n" + TextTable(titles: titles, rows: rows).text
    }

    /// `daily: fetched, content of 2026-01-01T06:55:00.412Z`.
    static func line(_ report: DigestFetchReport) -> String {
        TerminalText.printable(
            "\(report.digest): \(report.outcome.rawValue), content of \(report.contentAt ?? "never")"
        )
    }

    /// `daily: delivered as ntf_…, content of 2026-01-01T06:55:00.412Z`.
    static func line(_ report: DigestShowReport) -> String {
        TerminalText.printable(
            "\(report.digest): \(report.state) as \(report.notificationID), "
                + (report.contentAt.map { "content of \($0)" } ?? report.text)
        )
    }
}
