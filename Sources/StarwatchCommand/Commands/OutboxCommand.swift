import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, show, retry and discard outbox rows.",
        discussion: """
            Goes through the running agent if there is one, else straight to the database. The output names \
            projects; it is meant for the agent's owner.
            """,
        subcommands: [List.self, Show.self, Retry.self, Discard.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the rows, the newest first.",
            discussion: "At most \(OutboxEntry.listLimit) rows; a note on standard error says when there may be more."
        )

        @Option(help: "Only rows in this state: \(OutboxState.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: String?

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func validate() throws {
            let states = OutboxState.allCases.map(\.rawValue)
            guard let state, !states.contains(state) else { return }
            let tail = Suggestion.tail(for: state, among: states)
            throw ValidationError("--state must be one of \(states.joined(separator: ", "))\(tail)")
        }

        func run() async throws {
            let state = state
            let rows = try await arguments.access.perform { agent throws(CommandError) in
                try await agent.outboxList(state: state)
            }
            print(try format.json ? JSONText.encode(rows) : OutboxText.list(rows))
            if let note = OutboxText.limitNote(rows) { FileHandle.standardError.write(Data((note + "\n").utf8)) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a row.")

        @Argument(help: "The row's id, as list shows it.")
        var id: Int64

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let id = id
            let row = try await arguments.access.perform { agent throws(CommandError) in
                try await agent.outboxShow(id)
            }
            print(try format.json ? JSONText.encode(row) : OutboxText.details(row))
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Try dead rows again.",
            discussion: "A row of the state dead becomes pending, with all its tries before it."
        )

        @Argument(help: "The rows' ids.")
        var ids: [Int64]

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let ids = ids
            let count = try await arguments.access.perform { agent throws(CommandError) in
                try await agent.outboxRetry(ids)
            }
            print(
                try format.json
                    ? JSONText.encode(["changed": count])
                    : "\(count) \(count == 1 ? "row" : "rows") will be tried again."
            )
        }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: "Give dead rows up.",
            discussion: "Their changes will not be announced. This cannot be undone."
        )

        @Argument(help: "The rows' ids.")
        var ids: [Int64]

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let ids = ids
            let count = try await arguments.access.perform { agent throws(CommandError) in
                try await agent.outboxDiscard(ids)
            }
            print(
                try format.json
                    ? JSONText.encode(["changed": count]) : "\(count) \(count == 1 ? "row" : "rows") discarded."
            )
        }
    }
}
