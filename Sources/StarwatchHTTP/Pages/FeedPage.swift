import Starwatch
import StarwatchCore

/// The page of the latest notifications. Served only by the control API, because it names projects.
///
/// It updates when a notification arrives. Without JavaScript it reloads every 30 s.
struct FeedPage: Sendable {
    /// The notifications, newest first; `nil` if no sink keeps them.
    let entries: [FeedEntry]?
    let times: PageTimes

    /// The maximum number of listed names. The notification's link leads to all.
    private static let listedNames = 5

    var frame: PageFrame {
        PageFrame(
            title: "Notifications",
            refreshSeconds: 30,
            isLive: entries != nil,
            hasFeeds: entries != nil,
            aside: times.asOf,
            main: main
        )
    }

    private var main: HTML {
        guard let entries else {
            return """
                <div class="feed"><h1>Notifications</h1>
                <section class="card"><p>No sink keeps notifications yet. Add one to <code>delivery.sinks</code> in \
                the configuration, then send SIGHUP:</p>
                <pre><code>- name: feed
                  kind: feed
                  keep: 100</code></pre></section></div>
                """
        }
        let none: HTML = "<p class=\"card none\">None yet. They appear here as they are delivered.</p>"
        let list: HTML = entries.isEmpty ? none : "<ol reversed>\(entries.map(article))</ol>"
        return """
            <div class="feed" id="feed" data-latest="\(String(entries.first?.sequence ?? 0))">
            <h1>Notifications</h1>
            <p class="live" id="live" role="status"></p>
            \(list)
            </div>
            """
    }

    private func article(_ entry: FeedEntry) -> HTML {
        let message = entry.notification
        return """
            <li class="card" id="n\(String(entry.sequence))"><article>
            <p class="caption"><span class="pill">\(message.poll)</span>\(times.ageAndTime(message.createdAt))</p>
            <h2>\(message.title)</h2>
            <p>\(message.body)</p>
            \(Self.names(message))
            <p><a href="\(message.deepLink)">Open</a> <a href="explain?id=\(message.id)">Explain</a></p>
            </article></li>

            """
    }

    /// The names of the changes. The body already names a single one.
    static func names(_ message: NotificationMessage) -> HTML {
        guard message.count > 1 else {
            return message.changes.first.flatMap(fields).map { "<p class=\"none\">\($0)</p>" } ?? ""
        }
        let named = message.changes.prefix(listedNames)
        let items: [HTML] = named.map { change in
            let fields: HTML = fields(change).map { " <small>\($0)</small>" } ?? ""
            return "<li>\(change.name.map { BidiText.isolated($0) } ?? "A project without a name")\(fields)</li>"
        }
        let rest = message.count - named.count
        let more: HTML = rest > 0 ? "<li class=\"none\">and \(rest) more</li>" : ""
        return "<ul>\(items)\(more)</ul>"
    }

    /// The changed fields of a change, such as `Changed: description, end time`; `nil` if no earlier state is known.
    private static func fields(_ change: NotificationMessage.Item) -> HTML? {
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
