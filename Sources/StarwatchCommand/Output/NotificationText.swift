import Starwatch
import StarwatchCore

/// Notifications for a person.
enum NotificationText {
    static func list(_ notifications: [NotificationEntry]) -> String {
        guard !notifications.isEmpty else { return "No notifications." }
        return TextTable(
            titles: ["ROW", "ID", "STATE", "CREATED", "DONE", "TEXT"],
            right: [0],
            rows: notifications.map { notification in
                let done = notification.actions.map(\.action.rawValue).joined(separator: ",")
                return [
                    "\(notification.row)", notification.id, notification.state, notification.createdAt,
                    done.isEmpty ? "-" : done, "\(notification.title): \(notification.body)",
                ]
            }
        ).text
    }

    static func details(_ notification: NotificationEntry) -> String {
        var pairs = [
            ("Id", notification.id), ("State", notification.state), ("Poll", notification.poll),
            ("Created", notification.createdAt), ("Changes", "\(notification.count)"), ("Title", notification.title),
            ("Text", notification.body), ("Link", notification.deepLink ?? "-"),
            ("Repeats", notification.repeats ?? "-"), ("Offers", notification.offers.joined(separator: ", ")),
        ]
        for action in notification.actions {
            let repetition = action.repetition.map { ", again as \($0)" } ?? ""
            pairs.append(("Done", "\(action.action.rawValue), \(action.doneAt)\(repetition)"))
        }
        for change in notification.changes ?? [] {
            let row = change.row.map { "row \($0)" } ?? "row deleted"
            pairs.append(("Change", "\(change.jwtID), \(row)" + (change.state.map { ", \($0.rawValue)" } ?? "")))
        }
        for delivery in notification.deliveries ?? [] {
            pairs.append(("Sink \(delivery.sink)", OutboxText.delivery(delivery)))
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
