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
            discussion: """
                A note on standard error says when there may be more rows, and with which --before to list them.
                """
        )

        @Option(help: "Only rows in this state: \(OutboxState.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: String?

        @Option(help: "Only rows of this poll.")
        var poll: String?

        @Option(help: "Only rows with smaller ids than this one, as the note of the list before says.")
        var before: Int64?

        @Option(help: "The most rows, from 1 to \(OutboxEntry.listLimit).")
        var limit = OutboxEntry.listLimit

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func validate() throws {
            guard (1...OutboxEntry.listLimit).contains(limit) else {
                throw ValidationError("--limit must be between 1 and \(OutboxEntry.listLimit)")
            }
            let states = OutboxState.allCases.map(\.rawValue)
            guard let state, !states.contains(state) else { return }
            let tail = Suggestion.tail(for: state, among: states)
            throw ValidationError("--state must be one of \(states.joined(separator: ", "))\(tail)")
        }

        func run() async throws {
            var query = OutboxQuery()
            query.state = state
            query.poll = poll
            query.before = before
            query.limit = limit
            let rows = try await arguments.access.perform { [query] agent throws(ControlError) in
                try await agent.outboxList(query)
            }
            try format.print(rows, OutboxText.list)
            if let note = OutboxText.limitNote(rows, limit: limit) {
                FileHandle.standardError.write(Data((note + "\n").utf8))
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a row, and what every sink said about it."
        )

        @Argument(help: "The row's id, as list shows it.")
        var id: Int64

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let id = id
            let row = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.outboxShow(id)
            }
            try format.print(row, OutboxText.details)
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Try dead rows again.",
            discussion: """
                A row of the state dead becomes pending, with all its tries before it. What some sinks have already is \
                tried at those that refused it, with all that was announced together. Where one of the ids is in \
                another state, or is not there, nothing changes.
                """
        )

        @OptionGroup var rows: RowArguments
        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let (ids, poll) = (rows.all ? nil : rows.ids, rows.poll)
            let count = try await arguments.access.perform { agent throws(ControlError) in
                guard let ids else { return try await agent.outboxRetryAll(poll: poll) }
                return try await agent.outboxRetry(ids)
            }
            try format.print(["changed": count]) { _ in "\(OutboxText.rows(count)) will be tried again." }
        }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: "Give dead rows up.",
            discussion: """
                Their changes will not be announced. This cannot be undone. Where one of the ids is not a dead row, \
                nothing changes.
                """
        )

        @OptionGroup var rows: RowArguments
        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let (ids, poll) = (rows.all ? nil : rows.ids, rows.poll)
            let count = try await arguments.access.perform { agent throws(ControlError) in
                guard let ids else { return try await agent.outboxDiscardAll(poll: poll) }
                return try await agent.outboxDiscard(ids)
            }
            try format.print(["changed": count]) { _ in "\(OutboxText.rows(count)) discarded." }
        }
    }
}

/// Selection of dead rows: some by their ids, or all.
struct RowArguments: ParsableArguments {
    @Argument(help: "The rows' ids.")
    var ids: [Int64] = []

    @Flag(help: "Every dead row.")
    var all = false

    @Option(help: "With --all: only those of this poll.")
    var poll: String?

    func validate() throws {
        guard ids.isEmpty == all else {
            throw ValidationError(all ? "Give ids or --all, not both" : "Give the rows' ids, or --all")
        }
        guard all || poll == nil else { throw ValidationError("--poll goes with --all") }
    }
}
