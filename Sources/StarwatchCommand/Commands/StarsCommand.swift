import ArgumentParser
import Starwatch

struct StarsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stars",
        abstract: "List or change the starred plans of the active identity.",
        discussion: "Each command prints the resulting stars, one on a line.",
        subcommands: [List.self, Set.self, Add.self, Remove.self, Restore.self, OptOut.self, OptIn.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the starred plans.")

        @Flag(help: "List the stars from before changes of identity, kept for 30 days.")
        var archived = false

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            if archived {
                let archive = try await arguments.access.perform { agent throws(ControlError) in
                    try await agent.archivedStars()
                }
                return try arguments.format.print(archive, ArchiveText.lines)
            }
            let stars = try await arguments.access.perform { agent throws(ControlError) in try await agent.stars() }
            try StarsCommand.show(stars, arguments)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Star these plans and no others."
        )

        @Argument(help: "The plans' ids.")
        var ids: [String]

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await StarsCommand.change(.set, ids, arguments) }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Star more plans.")

        @Argument(help: "The plans' ids.")
        var ids: [String]

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await StarsCommand.change(.add, ids, arguments) }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Unstar these plans.")

        @Argument(help: "The plans' ids.")
        var ids: [String]

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await StarsCommand.change(.remove, ids, arguments) }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Restore the stars from before the last change of identity."
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await StarsCommand.change(.restore, [], arguments) }
    }

    struct OptOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "opt-out",
            abstract: "Stop polling for starred plans; the stars stay."
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await StarsCommand.change(.optOut, [], arguments) }
    }

    struct OptIn: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "opt-in",
            abstract: "Poll for starred plans again."
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await StarsCommand.change(.optIn, [], arguments) }
    }

    private static func change(
        _ operation: StarsChange.Operation,
        _ ids: [String],
        _ arguments: AgentArguments
    ) async throws {
        let change = StarsChange(operation: operation, planIDs: ids)
        let stars = try await arguments.access.perform { agent throws(ControlError) in
            try await agent.changeStars(change)
        }
        try show(stars, arguments)
    }

    private static func show(_ stars: [String], _ arguments: AgentArguments) throws {
        try arguments.format.print(stars) { $0.isEmpty ? "No plans are starred." : $0.joined(separator: "\n") }
    }
}
