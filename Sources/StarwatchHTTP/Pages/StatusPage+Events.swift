import Starwatch
import StarwatchCore

extension StatusPage {
    /// The newest lines of the stored log that the page shows.
    static var eventQuery: LogQuery {
        var query = LogQuery()
        query.level = .info
        query.limit = 8
        return query
    }

    var eventsCard: HTML {
        guard let events, !events.isEmpty else { return "" }
        let items = events.reversed().map { line -> HTML in
            let kind: HTML =
                switch line.level {
                case .error: "<span class=\"pill bad\">Error</span> "
                case .warn: "<span class=\"pill warn\">Warning</span> "
                case .info, .debug: ""
                }
            return "<li>\(kind)\(Self.text(of: line)) <span class=\"none\">\(times.ageAndTime(line.at))</span></li>\n"
        }
        return """
            <section class="card events" aria-labelledby="events"><h2 id="events">Last events</h2>
            <ul>\(items)</ul>
            <p class="more"><code>starwatch logs</code> has all of them.</p>
            </section>
            """
    }

    /// The event with the fields that say what it is about; the line itself if it is not JSON.
    private static func text(of line: LogLine) -> HTML {
        guard line.line.hasPrefix("{") else { return "\(line.line)" }
        let event = LoggedLine(line.line)
        let details = ["problem", "poll", "sink", "kind", "verb", "actor", "outcome"].compactMap { event[$0] }
        let about: HTML = details.isEmpty ? "" : " <small>\(details.joined(separator: " · "))</small>"
        return "<code>\(event.event)</code>\(about)"
    }
}
