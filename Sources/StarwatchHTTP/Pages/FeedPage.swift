import Starwatch
import StarwatchCore

/// The page of the latest notifications. Served only by the control API, because it names projects.
///
/// It updates when a notification arrives. Without JavaScript it reloads every 30 s.
struct FeedPage: Sendable {
    /// The notifications, newest first; `nil` if no sink keeps them, or none of many accounts is named.
    var entries: [FeedEntry]?
    let times: PageTimes
    /// Whether each of many accounts has a feed.
    var isOfMany = false
    /// The words beside those of the notifications.
    var catalogues = MessageCatalogues.builtIn

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
            guard !isOfMany else {
                return """
                    <div class="feed"><h1>Notifications</h1><p class="card">Each account has a feed of its own. \
                    <code>starwatch feed url --account DID</code> prints its address.</p></div>
                    """
            }
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
        let polls: [HTML] = NotificationPolls(message).names.map { "<span class=\"pill\">\($0)</span> " }
        return """
            <li class="card"><article lang="\(message.locale)">
            <p class="caption" lang="en"><span>\(polls)</span>\(times.ageAndTime(message.createdAt))</p>
            <h2>\(message.title)</h2>
            <p>\(message.body)</p>
            \(NotificationNames(message, catalogues: catalogues).html)
            <p lang="en"><a href="\(NotificationNames.address(of: message) ?? message.deepLink)">Open</a> <a href="explain?id=\(message.id)">Explain</a></p>
            </article></li>

            """
    }
}
