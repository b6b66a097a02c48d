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
            <style nonce="\(nonce)">\(Self.style)</style>
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
            <script nonce="\(nonce)">\(Self.script)\(isLive ? Self.liveScript : "")</script>
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

    /// Shows the times in the viewer's time zone. Without JavaScript they are in UTC.
    private static let script: HTML = """

        const day = (date) => date.toLocaleDateString("sv-SE");
        const localise = () => {
          const shown = document.querySelector("header time");
          const today = shown && day(new Date(shown.dateTime));
          for (const time of document.querySelectorAll("time")) {
            const date = new Date(time.dateTime), clock = time.querySelector("small");
            if (isNaN(date)) continue;
            time.title = clock.textContent;
            clock.textContent = (today === day(date) ? "" : day(date) + " ") + date.toLocaleTimeString("sv-SE");
          }
          const zone = document.getElementById("zone");
          if (zone) zone.textContent = " " + Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ");
        };
        localise();

        """
}

extension PageFrame {
    /// Fetches the page again when a notification arrives, and replaces its content.
    static let liveScript: HTML = """

        const latest = document.getElementById("feed")?.dataset.latest;
        if (latest !== undefined) {
          const events = new EventSource("api/v1/notifications/events?after=" + latest);
          const say = (text) => document.getElementById("live").textContent = text;
          let words = "Connecting…";
          const renew = async () => {
            // A relative address would have the password of this one, with which fetch refuses.
            const answer = await fetch(location.origin + location.pathname);
            if (!answer.ok) return;
            // The new page's style has another nonce than this page's policy.
            const text = (await answer.text()).replace(/<style[^]*?<[/]style>/g, "");
            const page = new DOMParser().parseFromString(text, "text/html");
            for (const part of ["main", ".asof"]) {
              document.querySelector(part).replaceWith(page.querySelector(part));
            }
            localise();
            say(words);
          };
          say(words);
          events.onopen = () => say(words = "Live: new notifications appear by themselves.");
          events.onerror = () => say(words = "The agent does not answer; reconnecting.");
          events.addEventListener("notification", renew);
          events.addEventListener("gap", renew);
        }

        """
}
