import ArgumentParser
import Starwatch
import StarwatchCore

struct NotificationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications",
        abstract: "List, show and follow notifications, and act on them.",
        discussion: """
            Uses the running agent if there is one, else the database, which cannot be followed. The output names \
            projects; it is for the person who is notified.
            """,
        subcommands: List.commands + Show.commands + Act.commands + [NotificationsFollowCommand.self]
    )

    struct List: ParsableArguments, OneQuestion {
        static let question = Question<List>(
            ControlAPI.listSentNotifications,
            "list",
            "List the active identity's notifications, newest first.",
            examples: [
                "starwatch notifications list", "starwatch notifications list --limit 10 --json",
                "starwatch notifications list --change 17",
            ],
            taking: \.query,
            then: { listing, _, arguments in try arguments.print(listing.notifications, NotificationsCommand.list) }
        )

        @Option(help: "Only older notifications: the last row of the previous list.")
        var before: Int64?

        @Option(help: "Only notifications of this change: its claim id, or its row of outbox list.")
        var change: String?

        @Option(help: "The maximum number of notifications, from 1 to \(NotificationQuery.listLimit).")
        var limit = NotificationQuery().limit

        func validate() throws { try OptionValue.check(limit: limit, upTo: NotificationQuery.listLimit) }

        private var query: NotificationQuery {
            var query = NotificationQuery()
            (query.before, query.change, query.limit) = (before, change, limit)
            return query
        }
    }

    struct Show: ParsableArguments, OneQuestion {
        static let question = Question<Show>(
            ControlAPI.showNotification,
            "show",
            "Show a notification with its changes, deliveries and actions.",
            examples: ["starwatch notifications show ntf_4f1d2c9ab07e4f1d2c9ab07e4f1d2c9a"],
            taking: \.id,
            text: NotificationsCommand.details
        )

        @Argument(help: "The notification's id, as list shows it.")
        var id: String

    }

    struct Act: ParsableArguments, OneQuestion {
        static let question = Question<Act>(
            configuration: CommandConfiguration(
                "act",
                "Perform an action of a notification.",
                """
                Repeating an action changes nothing. A snooze delivers the notification again an hour later, under \
                an id of its own; a change of identity cancels it. No action acknowledges a change.
                """,
                examples: ["starwatch notifications act ntf_4f1d2c9ab07e4f1d2c9ab07e4f1d2c9a mark_read"]
            )
        ) { act, arguments in
            try arguments.print(
                await arguments.ask(ControlAPI.actOnNotification, act.choice()),
                NotificationsCommand.line
            )
        }

        @Argument(help: "The notification's id, as list shows it.")
        var id: String

        @Argument(help: "One of \(NotificationAction.allCases.map(\.rawValue).joined(separator: ", ")).")
        var action: String

        func validate() throws { _ = try choice() }

        private func choice() throws -> ChosenAction {
            ChosenAction(try NotificationAction.read(action, "the action"), on: id)
        }
    }
}

/// Notifications for a person.
extension NotificationsCommand {
    static func list(_ notifications: [NotificationEntry]) -> String {
        guard !notifications.isEmpty else { return "No notifications." }
        return TextTable(
            titles: ["ROW", "ID", "STATE", "POLL", "CREATED", "DONE", "TEXT"],
            right: [0],
            rows: notifications.map { notification in
                let body = NotificationPolls.inOneLine(notification.body)
                let done = notification.actions.map(\.action.rawValue).joined(separator: ",")
                return [
                    "\(notification.row)", notification.id, notification.state, notification.pollNames,
                    notification.createdAt, done.isEmpty ? "-" : done, "\(notification.title): \(body)",
                ]
            }
        ).text
    }

    static func details(_ notification: NotificationEntry) -> String {
        var pairs = [
            ("Id", notification.id), ("State", notification.state), ("Poll", notification.pollNames),
            ("Created", notification.createdAt), ("Changes", "\(notification.count)"), ("Title", notification.title),
            ("Text", NotificationPolls.inOneLine(notification.body)), ("Link", notification.deepLink ?? "-"),
            ("Repeats", notification.repeats ?? "-"), ("Offers", notification.offers.joined(separator: ", ")),
        ]
        for action in notification.actions {
            let repetition = action.repetition.map { ", again as \($0)" } ?? ""
            pairs.append(("Done", "\(action.action.rawValue), \(action.doneAt)\(repetition)"))
        }
        for change in notification.changes ?? [] {
            let row = change.row.map { "row \($0)" } ?? "row deleted"
            let facts = [change.jwtID, row, change.state?.rawValue, change.poll].compactMap(\.self)
            pairs.append(("Change", facts.joined(separator: ", ")))
        }
        for delivery in notification.deliveries ?? [] {
            pairs.append(("Sink \(delivery.sink)", OutboxCommand.delivery(delivery)))
        }
        return TextTable.pairs(pairs)
    }

    static func line(_ report: ActionReport) -> String {
        var text = report.already == true ? "Done before, at \(report.doneAt)" : "Done"
        if let repetition = report.repetition, let time = report.repeatsAt {
            text += ": it comes again at \(time), as \(repetition)"
        }
        if let link = report.deepLink { text += ": \(link)" }
        return TerminalText.printable(text + (report.deepLink == nil ? "." : ""))
    }
}
