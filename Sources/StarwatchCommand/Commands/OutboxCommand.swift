import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, show, retry and discard outbox rows.",
        discussion: """
            Uses the running agent if there is one, else the database. The output names projects; it is for the \
            agent's owner.
            """,
        subcommands: List.commands + Show.commands + commands + Discard.commands
    )

    struct List: ParsableArguments, OneQuestion {
        static let question = Question<List>(
            ControlAPI.listOutbox,
            "list",
            "List the rows, newest first.",
            about: "A note on standard error says whether there can be more rows, and which --before lists them.",
            examples: [
                "starwatch outbox list", "starwatch outbox list --state dead --limit 20",
                "starwatch outbox list --twice",
            ],
            taking: \.query,
            then: { listing, list, arguments in
                try arguments.print(listing.entries, OutboxCommand.list)
                list.part.note("rows", ids: listing.entries.map(\.id))
            }
        )

        @Option(
            help: "Only rows in this state: \(OutboxState.allCases.map(\.rawValue).joined(separator: ", ")).",
            completion: .list(OutboxState.allCases.map(\.rawValue))
        )
        var state: String?

        @Flag(help: "Only changes that a sink accepted more than once.")
        var twice = false

        @OptionGroup var part: ListArguments

        func validate() throws { _ = try state.map { try OutboxState.read($0, "--state") } }

        private var query: OutboxQuery {
            var query = OutboxQuery()
            (query.state, query.twice) = (state, twice)
            (query.poll, query.before, query.limit) = (part.poll, part.before, part.limit)
            return query
        }
    }

    struct Show: ParsableArguments, OneQuestion {
        static let question = Question<Show>(
            ControlAPI.showOutboxRow,
            "show",
            "Show a row with the result of every sink.",
            examples: ["starwatch outbox show 17"],
            taking: \.id,
            text: OutboxCommand.details
        )

        @Argument(help: "The row's id, as list shows it.")
        var id: Int64
    }

    struct Discard: ParsableArguments, OneQuestion {
        static let question = Question<Discard>(
            ControlAPI.discardOutbox,
            "discard",
            "Discard dead rows, or rows that wait for a sink.",
            about: """
                Their changes will not be announced. This cannot be undone. If one of the ids is neither a dead letter \
                nor a claimed row, nothing changes. A notification is sent without its discarded rows, under the same id, \
                and is cancelled when none is left. An attempt that is running can still name them.
                """,
            examples: ["starwatch outbox discard 17", "starwatch outbox discard --all --claimed"],
            taking: { DiscardSelection($0.rows.selection, in: $0.claimed ? .claimed : nil) },
            text: { "\($0.changed.counted("row")) discarded." }
        )

        @Flag(help: "With --all: every row that waits for a sink, instead of every dead row.")
        var claimed = false

        @OptionGroup var rows: RowArguments

        func validate() throws {
            guard rows.all || !claimed else { throw ValidationError("--claimed goes with --all") }
        }
    }
}

extension OutboxCommand: OneQuestion {
    static let question = Question<RowArguments>(
        ControlAPI.retryOutbox,
        "retry",
        "Retry dead letters.",
        about: """
            A dead row becomes pending, and its attempts start again. A delivered row that an optional sink did not \
            get keeps its state. Only the sinks that did not get a change get it again, with all changes of the \
            same notification. If one of the ids is neither, nothing changes.
            """,
        examples: ["starwatch outbox retry 17 18", "starwatch outbox retry --all --poll starred_projects"],
        taking: \.selection,
        text: { "\($0.changed.counted("row")) will be retried." }
    )
}

/// Options that select a part of a list, newest first.
struct ListArguments: ParsableArguments {
    @Option(help: "Only entries of this poll.", completion: .polls)
    var poll: String?

    @Option(help: "Only entries with smaller ids, as the note of the previous list says.")
    var before: Int64?

    @Option(help: "The maximum number of entries, from 1 to \(OutboxEntry.listLimit).")
    var limit = OutboxEntry.listLimit

    func validate() throws { try OptionValue.check(limit: limit, upTo: OutboxEntry.listLimit) }

    /// Tells on standard error whether there can be more.
    func note(_ what: String, ids: [Int64]) {
        guard let note = OutboxCommand.limitNote(what, ids: ids, limit: limit) else { return }
        StandardError.say(note)
    }
}

/// A selection of dead rows or quarantined items: some by their ids, or all.
struct RowArguments: ParsableArguments {
    @Argument(help: "The rows' ids.")
    var ids: [Int64] = []

    @Flag(help: "All of them.")
    var all = false

    @Option(help: "With --all: only the rows of this poll.", completion: .polls)
    var poll: String?

    var selection: RowSelection { all ? RowSelection(allOf: poll) : RowSelection(ids: ids) }

    func validate() throws {
        guard ids.isEmpty == all else {
            throw ValidationError(all ? "Give ids or --all, not both" : "Give the rows' ids, or --all")
        }
        guard all || poll == nil else { throw ValidationError("--poll goes with --all") }
    }
}
