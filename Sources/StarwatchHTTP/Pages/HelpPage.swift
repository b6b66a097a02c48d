import Starwatch
import StarwatchCore

/// Meaning of the status page's words and of its JSON fields, with advice for each.
struct HelpPage: Sendable {
    /// `true` if the same server has the control API.
    var canControl = false
    var dashboards: String?

    func html(nonce: String) -> HTML {
        var frame = PageFrame(title: "Help", main: main)
        frame.canControl = canControl
        frame.dashboards = dashboards
        return frame.html(nonce: nonce)
    }

    private var main: HTML {
        """
        <div class="help"><h1>Help</h1>
        \(section("reasons", "Reasons", reasons))
        \(section("skips", "Why a poll is skipped", skips))
        \(section("digests", "Why a digest is not shown", digests))
        \(section("refresh", "Refresh now", refresh))
        \(section("settings", "Settings", settings))
        \(section("status", "Status as JSON", fields))
        \(section("addresses", "Addresses", addresses))
        </div>
        """
    }

    private func section(_ id: HTML, _ title: HTML, _ content: HTML) -> HTML {
        "<section class=\"card\" id=\"\(id)\" aria-labelledby=\"\(id)-title\"><h2 id=\"\(id)-title\">\(title)</h2>\n\(content)</section>"
    }

    private func table(_ name: HTML, _ head: HTML, _ rows: [(String, HTML)]) -> HTML {
        let rows = rows.map { "<tr><th scope=\"row\"><code>\($0.0)</code></th><td>\($0.1)</td></tr>\n" as HTML }
        return """
            <table aria-label="\(name)"><thead><tr><th scope="col">\(head)</th><th scope="col">Meaning</th></tr></thead>
            <tbody>\(rows)</tbody></table>
            """
    }

    // MARK: - Words

    private var reasons: HTML {
        let rows = StatusReason.allCases.map { ($0.rawValue, Self.meaning($0)) }
        return """
            <p>Any of them makes the agent degraded. Some name a poll, a sink or the server after a colon.</p>
            \(table("Reasons", "Word", rows))
            <p>Each alert has a runbook in <code>alerts/runbooks</code> of the source.</p>
            """
    }

    private static func meaning(_ reason: StatusReason) -> HTML {
        switch reason {
        case .storeUnavailable:
            "The database cannot be read. See to the disk and the file’s owner and mode; the log has SQLite’s words."
        case .circuitOpen:
            """
            The server or a sink failed so often that it is left alone for a while, then tried by itself. Nothing is \
            lost. <code>starwatch_api_requests_total</code> and <code>starwatch_delivery_attempts_total</code> say how \
            it failed.
            """
        case .stale:
            """
            The last success is older than the poll’s <code>stale_after</code>. \
            <code>starwatch poll NAME</code> runs it and says what is wrong.
            """
        case .deadLetters:
            """
            A sink refused changes for good. <code>starwatch outbox list --state dead</code> shows them; \
            <code>outbox retry ID</code> tries again, <code>outbox discard ID</code> gives up.
            """
        case .sinkDisabled:
            "A sink answered 410: gone. Correct or remove it, then send SIGHUP; its changes wait."
        case .backpressure:
            "The outbox is nearly full, so polling pauses while delivery goes on. See to the sinks."
        case .clockSkew:
            "This machine’s clock is further off the server’s than <code>clock.max_skew</code>. See to its time service."
        case .ledgerImbalance:
            "The books of the outbox do not add up. That is a defect of Starwatch; please report it."
        }
    }

    private var skips: HTML {
        let rows = SkipReason.allCases.map { ($0.rawValue, Self.meaning($0)) }
        return
            "<p>A skipped run is no failure. The page shows the latest run’s reason.</p>\(table("Skips", "Word", rows))"
    }

    private static func meaning(_ reason: SkipReason) -> HTML {
        switch reason {
        case .noIdentity: "Nobody is signed in: <code>starwatch identity set DID</code>."
        case .noStars: "The identity has starred nothing: <code>starwatch stars add ID</code>."
        case .optedOut:
            "The person wants no notifications of this kind. For starred plans: <code>starwatch stars opt-in</code>."
        case .backpressure: "The outbox is nearly full."
        case .throttled: "The server asked for a pause that is not over."
        case .circuitOpen: "The server did not answer lately and is left alone for a while."
        case .noToken: "There is no key or token to sign in with; see <code>auth</code> in the configuration."
        case .overlap: "The run before it was still under way."
        }
    }

    private var digests: HTML {
        let rows = SlotCode.allCases.map { ($0.rawValue, Self.meaning($0)) }
        return """
            <p>The page shows the last result’s reason, <code>starwatch digests</code> those of the last day.</p>
            \(table("Digests", "Word", rows))
            """
    }

    private static func meaning(_ code: SlotCode) -> HTML {
        switch code {
        case .stale: "Its content was older than <code>ttl</code> allows: the fetches fail, as the log says."
        case .empty: "There is no news: its content is empty, and <code>on_empty</code> is <code>skip</code>."
        case .noContent: "There was no content, and <code>on_missing</code> has nothing in its place; see the log."
        case .missed: "The agent did not run at its time, nor in the 10 minutes after it."
        case .undelivered: "No sink could be reached until its content was too old."
        case .rejected: "The sinks refused it."
        case .noSink: "Every sink that it is for is off: correct it, then send SIGHUP."
        case .fetchFailed: "The fetch before it failed; it may be shown all the same. Callbacks are told."
        }
    }

    // MARK: - Actions

    private var refresh: HTML {
        """
        <p>On the agent’s machine, <code>starwatch poll NAME</code> runs a poll at once and says how it went. This page \
        has a button for it only where the control API is open, because what is public must not change anything.</p>
        """
    }

    private var settings: HTML {
        """
        <p>Settings are in the configuration file. <code>starwatch config print</code> shows those in force, \
        <code>starwatch config default</code> all there are, <code>starwatch check</code> finds mistakes; SIGHUP or \
        <code>starwatch</code>’s control API loads the file again.</p>
        """
    }

    // MARK: - Addresses

    private var fields: HTML {
        """
        <p><code>GET /api/v1/status</code> and <code>starwatch status --json</code>. Times are ISO 8601 in UTC. What is \
        not known or does not apply is left out. Fields keep their names and meanings; new ones may be added.</p>
        \(table("Fields", "Field", StatusField.all.map { ($0.path, "\($0.meaning)") }))
        """
    }

    private var addresses: HTML {
        let control: [(String, HTML)] = [
            ("/feed", "The last notifications, where a sink of kind <code>feed</code> keeps them."),
            ("/api/v1/openapi.json", "The control API, as OpenAPI 3.1 describes it."),
        ]
        return table(
            "Addresses",
            "Path",
            [
                ("/", "The status page."),
                ("/metrics", "Prometheus text 0.0.4 or OpenMetrics 1.0, as <code>Accept</code> asks."),
                ("/api/v1/status", "The status as JSON."),
                ("/-/healthy", "200 while local work progresses, else 503. The server’s state does not count."),
                (
                    "/-/ready",
                    """
                    200, or 503 with the reasons: <code>starting</code>, <code>draining</code>, \
                    <code>store_unavailable</code>, <code>signed_out</code>.
                    """
                ),
            ] + (canControl ? control : [])
        )
    }
}
