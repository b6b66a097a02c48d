import ArgumentParser
import Starwatch

struct DigestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "digests",
        abstract: "List the digests, or fetch or show one now.",
        discussion: """
            Uses the running agent if there is one, else the database. Without a subcommand it lists.
            """,
        subcommands: List.commands + commands,
        defaultSubcommand: List.commands[0]
    )

    /// A digest that must be named.
    struct Name: ParsableArguments {
        @Argument(help: "The digest's name.", completion: .digests)
        var name: String
    }

    private enum List: OneQuestion {
        static let question = Question<NoOptions>(
            ControlAPI.listDigests,
            "list",
            "List the next digests and the results of the last ones.",
            about: """
                One line for each occurrence of the last and the next day. "planned" is not armed yet. The text uses \
                "fresh" content, older "cached" content, or the "fallback". "NAME/now" was shown by command.
                """,
            examples: ["starwatch digests", "starwatch digests list --json"],
            taking: { _ in },
            then: { listing, _, arguments in try arguments.print(listing.digests, DigestsCommand.lines) }
        )
    }
}

extension DigestsCommand: Questions {
    static let questions = [
        Question<Name>(
            ControlAPI.fetchDigest,
            "fetch",
            "Fetch a digest's content now.",
            about: """
                Makes one attempt of at most 12 s, in addition to the scheduled ones, and updates an armed digest. \
                Exits 1 if the attempt fails.
                """,
            examples: ["starwatch digests fetch daily"],
            taking: \.name,
            then: { report, _, arguments in try arguments.print(report, isGood: report.isFresh, DigestsCommand.line) }
        ),
        Question(
            ControlAPI.showDigest,
            "show",
            "Show a digest now.",
            about: """
                Shows the stored content if it has not expired, else the fallback, in addition to the digest's times \
                and under an id of its own. Fetches nothing.
                """,
            examples: ["starwatch digests show daily"],
            taking: \.name,
            text: DigestsCommand.line
        ),
    ]
}

/// Digests for a person.
extension DigestsCommand {
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
