import ArgumentParser
import Foundation
import Starwatch

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "List and discard invalid items of the server.",
        discussion: """
            The third time in a row that a page has an invalid item, a poll rejects the item alone and uses the rest of \
            the page (quarantine_invalid). Nothing of such an item is kept but its identifier and where its faults are. \
            Uses the running agent if there is one, else the database.
            """,
        subcommands: List.commands + commands
    )

    struct List: ParsableArguments, OneQuestion {
        static let question = Question<List>(
            ControlAPI.listQuarantine,
            "list",
            "List the items, newest first, with page and JSON path.",
            about: "A note on standard error says whether there can be more items, and which --before lists them.",
            examples: ["starwatch quarantine list", "starwatch quarantine list --poll starred_projects --json"],
            taking: \.query,
            then: { listing, list, arguments in
                try arguments.print(listing.entries, QuarantineCommand.list)
                list.part.note("items", ids: listing.entries.map(\.id))
            }
        )

        @OptionGroup var part: ListArguments

        private var query: QuarantineQuery {
            var query = QuarantineQuery()
            (query.poll, query.before, query.limit) = (part.poll, part.before, part.limit)
            return query
        }
    }
}

extension QuarantineCommand: OneQuestion {
    static let question = Question<RowArguments>(
        ControlAPI.discardQuarantine,
        "discard",
        "Hide items.",
        about:
            "An item stays hidden as long as the server sends it with the same faults. The server can still repair it.",
        examples: ["starwatch quarantine discard 12", "starwatch quarantine discard --all"],
        taking: \.selection,
        text: { "\($0.changed.counted("item")) discarded." }
    )
}

/// Invalid items of the server for a person.
extension QuarantineCommand {
    static func list(_ items: [QuarantineEntry]) -> String {
        guard !items.isEmpty else { return "No items." }
        return TextTable(
            titles: ["ID", "POLL", "KIND", "SEEN", "TIMES", "PAGE", "PATH", "PROBLEM"],
            right: [0, 4, 5],
            rows: items.flatMap { item in
                item.issues.enumerated().map { index, issue in
                    let head =
                        index == 0
                        ? ["\(item.id)", item.poll, item.kind, item.seenAt, "\(item.times)", "\(item.page)"]
                        : Array(repeating: "", count: 6)
                    return head + [issue.path, issue.problem]
                }
            }
        ).text
    }
}
