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

    /// A name, with the address of its project.
    package struct Link: Sendable, Hashable {
        package let name: String
        /// The address that a browser opens; `nil` if the project's id is none.
        package let address: String?

        package init(name: String, address: String?) { (self.name, self.address) = (name, address) }
    }

    /// The names of several changes, each with the address of its project. No name is blank, because a link needs a text.
    package var links: [Link] {
        zip(texts, message.changes).map { name, change in
            let isBlank = name.allSatisfy(\.isWhitespace)
            return Link(name: isBlank ? unnamed : name, address: ProjectLink.address(ofPlan: change.plan))
        }
    }

    /// The first names that fit into a limit with what tells the number of the others, and that number.
    ///
    /// - Parameters:
    ///   - size: The size of a name, in units of the limit.
    ///   - rest: The size of what tells a number of others.
    package func fitting(
        _ limit: Int,
        size: (Link) -> Int,
        rest: (Int) -> Int
    ) -> (shown: [Link], others: Int) {
        let links = links
        var (total, shown) = (0, 0)
        for (index, link) in links.enumerated() {
            total += size(link)
            guard total <= limit else { break }
            let others = message.count - index - 1
            if others == 0 || total + rest(others) <= limit { shown = index + 1 }
        }
        return (Array(links.prefix(shown)), message.count - shown)
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
