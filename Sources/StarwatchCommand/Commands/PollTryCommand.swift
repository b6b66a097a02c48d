import ArgumentParser
import Starwatch
import StarwatchCore

struct PollTryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "try",
        "Ask for a list once, and show how its settings read it.",
        """
        Sends one request, and shows the first items with their id, version, name and link, whether there is a next \
        page, the places that items do not have, and the items that cannot be read. Needs no agent, stores nothing and \
        announces nothing. Exits 1 unless it reads an item, or an empty list.
        """,
        examples: ["starwatch poll try releases", "starwatch poll try releases --json"]
    )

    @Argument(help: "The name of a poll of the kind json.", completion: .lists)
    var name: String

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func run() async throws {
        let options = try arguments.access.configuration().options
        let trial = try await ListTrial.of(try Self.list(name, in: options), options)
        try format.print(trial, isGood: trial.isGood, \.text)
    }

    /// Returns the poll of that name.
    ///
    /// - Throws: ``CommandError`` unless there is one, of the kind `json`.
    static func list(_ name: String, in options: AgentOptions) throws(CommandError) -> PollOptions {
        let lists = options.polls.filter(\.kind.isList).map(\.name.rawValue)
        guard let poll = options.polls.first(where: { $0.name.rawValue == name }) else {
            let near = Suggestion.nearest(to: name, among: lists).map { "did you mean \"\($0)\"?" }
            let advice = near ?? "the lists are \(lists.isEmpty ? "none" : lists.joined(separator: ", "))."
            throw .failed("There is no poll \"\(name)\"; \(advice)")
        }
        guard poll.kind.isList else {
            throw .failed(
                "\(name) is of the kind \(poll.kind.rawValue), and only json can be tried; run 'starwatch doctor'."
            )
        }
        return poll
    }
}

extension ListTrial {
    /// The page for a person.
    var text: String {
        var parts: [String] = []
        if let problem {
            parts.append(TerminalText.printable("\(poll): \(problem)"))
        } else {
            parts.append(TerminalText.printable("\(poll): \(summary)"))
        }
        if !items.isEmpty { parts.append(table) }
        parts += gaps.map {
            TerminalText.printable("\($0.setting): \($0.items.counted("item")) of \(fetched) without \($0.pointer).")
        }
        parts += refusals.map { TerminalText.printable("Cannot be read: \($0)") }
        if let list {
            let pointer = ConfigurationPrinter.scalar(list)
            parts.append(TerminalText.printable("There is a list at \(pointer); write items: \(pointer)."))
        }
        if problem != nil && status == 200 || !gaps.isEmpty || refused > 0, !places.isEmpty {
            let owner = fetched > 0 ? "The first item has" : "The answer has"
            parts.append(TerminalText.printable("\(owner): \(places.joined(separator: " "))"))
        }
        return parts.joined(separator: "\n")
    }

    private var summary: String {
        let unread = refused == 0 ? "" : ", \(refused) of which cannot be read"
        let shown = items.count < fetched - refused ? "; these are the first \(items.count)" : ""
        return "\(fetched.counted("item"))\(unread), \(hasNext ? "and a next page" : "no next page")\(shown)."
    }

    private var table: String {
        let names = Set(items.flatMap(\.fields.keys)).sorted()
        return TextTable(
            titles: ["ID", "VERSION", "NAME", "LINK"] + names.map { $0.uppercased() },
            states: [],
            rows: items.map { item in
                [item.id, item.version ?? "(digest)", item.name.map { BidiText.isolated($0) } ?? "-", item.link ?? "-"]
                    .map(Self.cell) + names.map { Self.cell(item.fields[$0] ?? "-") }
            }
        ).text
    }

    /// A value that fits beside others.
    private static func cell(_ text: String) -> String { text.count > 60 ? text.prefix(59) + "…" : text }
}
