/// The names of a notification's changes, for people. The body already names a single one.
package struct NotificationNames {
    private let message: NotificationMessage
    /// The maximum number of listed names. The notification's link leads to all.
    package var limit = 5
    /// The word for a change without a name.
    package var unnamed = "A project without a name"

    package init(_ message: NotificationMessage) { self.message = message }

    /// The names of several changes, each of which can turn no text around it.
    package var texts: [String] {
        guard message.count > 1 else { return [] }
        return message.changes.prefix(limit).map { $0.name.map { BidiText.isolated($0) } ?? unnamed }
    }

    /// A list of the names with the changed fields, in English.
    package var html: HTML {
        guard message.count > 1 else {
            return message.changes.first.flatMap(fields).map { "<p class=\"none\">\($0)</p>" } ?? ""
        }
        let items: [HTML] = zip(texts, message.changes).map { name, change in
            let fields: HTML = fields(change).map { " <small>\($0)</small>" } ?? ""
            return "<li>\(name)\(fields)</li>"
        }
        let rest = message.count - items.count
        let more: HTML = rest > 0 ? "<li class=\"none\">and \(rest) more</li>" : ""
        return "<ul>\(items)\(more)</ul>"
    }

    /// The changed fields of a change, such as `Changed: description, end time`; `nil` if no earlier state is known.
    private func fields(_ change: NotificationMessage.Item) -> HTML? {
        if change.edited == true { return "Edited" }
        guard let fields = change.fields else { return nil }
        let order = PlanDetails.Field.allCases.map(\.rawValue)
        let names = fields.keys.sorted {
            (order.firstIndex(of: $0) ?? order.count, $0) < (order.firstIndex(of: $1) ?? order.count, $1)
        }
        guard !names.isEmpty else { return "Edited; no compared field changed" }
        return "Changed: \(names.map { $0.replacing("_", with: " ") }.joined(separator: ", "))"
    }
}
