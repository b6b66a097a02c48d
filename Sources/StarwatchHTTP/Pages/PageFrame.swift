import CEmbedded
import StarwatchCore

/// The frame of every page: head, brand, navigation, style and script.
struct PageFrame: Sendable {
    /// The agent's state, as the page's icon shows it.
    enum Tone: Sendable { case good, warn, bad, calm }

    var title: String
    /// The way from the page's folder to that of `/`: `../` for a page below `/help/`. A proxy can serve both elsewhere.
    var root: HTML = ""
    var tone = Tone.calm
    /// The interval at which the page reloads; `nil` for never.
    var refreshSeconds: Int?
    /// Whether a script updates the page. ``refreshSeconds`` then applies only without JavaScript.
    var isLive = false
    /// Adds links to the feeds.
    var hasFeeds = false
    /// The content beside the brand.
    var aside: HTML = ""
    var main: HTML

    /// - Parameters:
    ///   - nonce: The nonce in the answer's content security policy.
    ///   - canControl: Whether the same server has the control API, which includes the feed.
    ///   - dashboards: The URL of the operator's dashboards; `nil` if it is not configured.
    func html(nonce: String, canControl: Bool, dashboards: String? = nil) -> HTML {
        let meta: HTML = refreshSeconds.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">" } ?? ""
        let refresh: HTML = isLive ? "<noscript>\(meta)</noscript>\n" : refreshSeconds == nil ? "" : "\(meta)\n"
        let feed: HTML =
            canControl ? "<a href=\"\(root)feed\">Notifications</a><a href=\"\(root)explain\">Explain</a>" : ""
        let dashboards: HTML = dashboards.map { "<a href=\"\($0)\">Dashboards</a>" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            \(refresh)<title>\(title) – Starwatch</title>
            <link rel="icon" href="\(icon)">\(feeds)
            <style nonce="\(nonce)">
            \(Self.style)</style>
            </head>
            <body>
            <header>
            <a class="brand" href="\(root)."><svg viewBox="0 0 24 24" aria-hidden="true"><path d="\(Self.star)"/></svg>Starwatch</a>
            \(aside)
            </header>
            <main>
            \(main)
            </main>
            <footer>
            <nav aria-label="Pages">\(feed)<a href="\(root)metrics">Metrics</a><a \
            href="\(root)api/v1/status">Status as JSON</a>\(dashboards)<a href="\(root)-/healthy">Health</a><a \
            href="\(root)-/ready">Readiness</a><a href="\(root)help">Help</a></nav>
            </footer>
            <script nonce="\(nonce)">
            \(Self.script)\(isLive ? "\n\(Self.liveScript)" : "")</script>
            </body>
            </html>

            """
    }

    private var feeds: HTML {
        guard hasFeeds else { return "" }
        return """

            <link rel="alternate" type="application/atom+xml" title="Notifications" href="\(root)feed.atom">
            <link rel="alternate" type="application/feed+json" title="Notifications" href="\(root)feed.json">
            """
    }

    /// A five-pointed star in a box of 24.
    static let star: HTML = "M12 1.8l3.1 6.6 7.2.9-5.3 5 1.4 7.2L12 18l-6.4 3.5L7 14.3l-5.3-5 7.2-.9z"

    /// The star in the colour of the page's tone, so that a browser tab shows a problem.
    private var icon: HTML {
        let colour: HTML =
            switch tone {
            case .good, .calm: "c28a1c"
            case .warn: "d97706"
            case .bad: "d33a2f"
            }
        return """
            data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27 viewBox=%270 0 24 24%27%3E%3Cpath \
            fill=%27%23\(colour)%27 d=%27\(Self.star)%27/%3E%3C/svg%3E
            """
    }

    /// Every pair of text and background has a contrast of at least 4.5; a test measures it in a browser.
    private static let style = HTML(starwatch_style())
    /// Shows the times in the viewer's time zone. Without JavaScript they are in UTC.
    private static let script = HTML(starwatch_script())
    /// Fetches the page again when a notification arrives, and replaces its content.
    private static let liveScript = HTML(starwatch_live_script())
}

extension HTML {
    fileprivate init(_ file: starwatch_file) { self.init(trusted: String(decoding: [UInt8](file), as: UTF8.self)) }
}
