import ArgumentParser
import Starwatch
import StarwatchCore

struct StarsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stars",
        abstract: "List or change the starred plans of the active identity.",
        discussion: "Each command prints the resulting stars, one on a line, with the last seen name.",
        subcommands: [List.self] + PlanArguments.commands + Remove.commands + commands
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "list",
            "List the starred plans.",
            examples: ["starwatch stars list", "starwatch stars list --archived"]
        )

        @Flag(help: "List the stars from before changes of identity, kept for 30 days.")
        var archived = false

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            guard archived else { return try StarsCommand.show(await arguments.ask(ControlAPI.listStars), arguments) }
            try arguments.print(try await arguments.ask(ControlAPI.listArchivedStars).archived, StarsCommand.archive)
        }
    }

    private struct Remove: ParsableArguments, OneQuestion {
        static let question = change(.remove, "Unstar these plans.", of: " https://endorser.ch/entity/…") {
            (plans: Remove, _) in
            plans.ids
        }

        @Argument(help: "The plans' ids.")
        var ids: [String]
    }

    /// A question whose command has the name of the change.
    ///
    /// - Parameter example: The arguments of the example.
    fileprivate static func change<Options>(
        _ operation: StarsChange.Operation,
        _ abstract: String,
        of example: String = "",
        _ ids: @escaping @Sendable (Options, AgentArguments) async throws -> [String]
    ) -> Question<Options> {
        let name = operation.rawValue.replacing("_", with: "-")
        let examples = ["starwatch stars \(name)\(example)"]
        return Question(configuration: CommandConfiguration(name, abstract, examples: examples)) { options, arguments in
            let change = StarsChange(operation: operation, planIDs: try await ids(options, arguments))
            let changed = try await arguments.ask(ControlAPI.changeStars, change)
            // The change is made, also if an agent answers without names.
            try show((try? await arguments.ask(ControlAPI.listStars)) ?? changed, arguments)
        }
    }

    private static func show(_ listing: StarsListing, _ arguments: AgentArguments) throws {
        let stars = listing.planIDs.map { Star(planID: $0, name: listing.names?[$0]) }
        try arguments.print(stars) { stars in
            stars.isEmpty
                ? "No plans are starred."
                : TextTable(rows: stars.map { [$0.planID, BidiText.isolated($0.name ?? "")] }).text
        }
    }

    /// A starred plan, with its last seen name.
    private struct Star: Encodable, Sendable {
        var planID: String
        var name: String?
    }
}

extension StarsCommand: Questions {
    static let questions: [Question<NoOptions>] = [
        change(.restore, "Restore the stars from before the last change of identity.") { _, _ in [] },
        change(.optOut, "Stop polling for starred plans; the stars stay.") { _, _ in [] },
        change(.optIn, "Poll for starred plans again.") { _, _ in [] },
    ]
}

/// Plans to star. The server ignores an identifier that it does not know, so one that cannot exist is rejected here.
struct PlanArguments: ParsableArguments, Questions {
    static let questions: [Question<PlanArguments>] = [
        StarsCommand.change(.set, "Star these plans and no others.", of: " https://endorser.ch/entity/…") {
            try await $0.checked($1)
        },
        StarsCommand.change(.add, "Star more plans.", of: " https://endorser.ch/entity/…") {
            try await $0.checked($1)
        },
    ]

    @Argument(help: "The plans' ids.")
    var ids: [String]

    @Flag(help: "Accept ids that no plan of the configured server can have.")
    var force = false

    /// Returns the ids.
    func checked(_ arguments: AgentArguments) async throws(CommandError) -> [String] {
        // With --socket alone there can be no configuration.
        guard !force, let options = try? arguments.access.configuration(secrets: false).options else { return ids }
        var known = options.server.dialect.fixed
        // A running agent can have found it out.
        if known == nil { known = try? await arguments.access.running().perform(ControlAPI.status, ()).server.dialect }
        let dialect = PlanIDRule.certainDialect(known, server: options.server.url)
        if let problem = PlanIDRule.problem(ids, in: dialect) {
            throw .usage("\(problem) To star it anyway, add --force.")
        }
        return ids
    }
}

/// Stars as text for a person.
extension StarsCommand {
    static func archive(_ archive: [ArchivedStarsReport]) -> String {
        guard !archive.isEmpty else { return "No stars are archived." }
        return archive.map { entry in
            (["Archived \(entry.archivedAt):"] + entry.planIDs.map { "  " + $0 })
                .map(TerminalText.printable).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
