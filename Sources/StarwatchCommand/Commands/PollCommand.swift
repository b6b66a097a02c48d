import ArgumentParser
import Starwatch
import StarwatchCore

/// `starwatch poll`.
struct PollCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "Run one poll cycle now, or try the settings of a list.",
        subcommands: PollArguments.commands + [PollTryCommand.self],
        defaultSubcommand: PollArguments.commands[0]
    )
}

/// `starwatch poll try`.
struct PollTryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "try",
        "Show the first page of a list as its poll understands it.",
        """
        Asks for the page once, without an agent, and stores nothing. Prints the items with id, version, name and link, the \
        way to the next page, and each setting that finds nothing, with the members that an item has. Exits 0 if \
        everything was found, else 1.
        """,
        examples: ["starwatch poll try releases", "starwatch poll try releases --json"]
    )

    @Argument(help: "The name of a poll of the kind json.", completion: .polls)
    var name: String

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func run() async throws {
        let options = try arguments.access.configuration(secrets: true).options
        let lists = options.polls.filter(\.kind.isList)
        guard let poll = lists.first(where: { $0.name.rawValue == name }) else {
            let names = lists.map(\.name.rawValue).joined(separator: ", ")
            let tail = names.isEmpty ? "the configuration has none." : "they are \(names)."
            throw CommandError.failed("There is no poll \"\(name)\" of the kind json; \(tail)")
        }
        let trial: ListTrial
        do throws(AgentError) { trial = try await ListTrial.run(poll, of: options) } catch {
            throw CommandError.failed(error.message)
        }
        try format.print(trial, isGood: trial.isGood, \.text)
    }
}

extension ListTrial {
    /// The trial as lines of text.
    fileprivate var text: String {
        var lines: [String] = []
        if let status {
            lines.append("The server answered \(status) with \(fetched) items, \(refused) of them unreadable.")
        }
        for item in items {
            let parts = [item.name ?? item.id, item.link].compactMap(\.self).joined(separator: "  ")
            lines.append("  \(item.id)  \(item.version)  \(parts)")
            lines += item.fields.sorted { $0.key < $1.key }.map { "      \($0.key): \($0.value)" }
        }
        if items.count < fetched - refused { lines.append("  … and \(fetched - refused - items.count) more") }
        if status != nil { lines.append("Next page: \(next ?? "none").") }
        lines += problems.map { "Problem: \($0)" }
        if isGood { lines.append("Every setting finds something.") }
        return TerminalText.printable(lines.joined(separator: "\n"))
    }
}
