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
        subcommands: [List.self, Discard.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "list",
            "List the items, newest first, with page and JSON path.",
            "A note on standard error says whether there can be more items, and which --before lists them.",
            examples: "starwatch quarantine list",
            "starwatch quarantine list --poll starred_projects --json"
        )

        @OptionGroup var part: ListArguments
        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            var query = QuarantineQuery()
            (query.poll, query.before, query.limit) = (part.poll, part.before, part.limit)
            let items = try await arguments.ask(ControlAPI.listQuarantine, query).entries
            try arguments.print(items, QuarantineText.list)
            part.note("items", ids: items.map(\.id))
        }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "discard",
            "Hide items.",
            "An item stays hidden as long as the server sends it with the same faults. The server can still repair it.",
            waiting: ControlAPI.discardQuarantine.patience,
            examples: "starwatch quarantine discard 12",
            "starwatch quarantine discard --all"
        )

        @OptionGroup var rows: RowArguments
        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            try await arguments.show(ControlAPI.discardQuarantine, rows.selection) {
                "\(QuarantineText.items($0.changed)) discarded."
            }
        }
    }
}

/// Invalid items of the server for a person.
enum QuarantineText {
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

    static func items(_ count: Int) -> String { "\(count) \(count == 1 ? "item" : "items")" }
}
