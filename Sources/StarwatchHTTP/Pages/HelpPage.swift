import Starwatch
import StarwatchCore

/// The help page: the meaning of the status page's words and of the fields of its JSON, and what to do about each.
struct HelpPage: Sendable {
    /// Whether the same server has the control API.
    var canControl = false

    var frame: PageFrame { PageFrame(title: "Help", main: main) }

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
        let rows = Problem.Kind.allCases.map { kind -> (String, HTML) in
            let command: HTML = Problem(kind, of: "NAME", "").command.map { " <code>\($0)</code>" } ?? ""
            return (kind.rawValue, "\(HTML(codeIn: kind.meaning))\(command)")
        }
        return """
            <p>Each reason makes the agent degraded. Some name a poll, a sink or a port after a colon.</p>
            \(table("Reasons", "Word", rows))
            <p>A poll with <b>Needs action</b> fails until a person changes its token, the token’s scope or the \
            configuration; its row says why. It still follows its schedule. A sink with <b>Rejecting</b> answers, but \
            rejected at least the last three attempts; the words beside it are the reason of the last one.</p>
            <p>Each alert has a <a href="help/runbooks">runbook</a>.</p>
            """
    }

    private var skips: HTML {
        let rows = SkipReason.allCases.map { ($0.rawValue, $0.meaning) }
        return
            "<p>A skipped run is not a failure. The page shows the latest run’s reason.</p>\(table("Skips", "Word", rows))"
    }

    private var digests: HTML {
        let rows = SlotCode.allCases.map { ($0.rawValue, $0.meaning) }
        return """
            <p>The page shows the last result’s reason. <code>starwatch digests</code> shows those of the last day.</p>
            \(table("Digests", "Word", rows))
            """
    }

    // MARK: - Actions

    private var refresh: HTML {
        """
        <p>On the agent’s machine, <code>starwatch poll NAME</code> runs a poll now and shows the result. This page has a \
        button for it only on the control API, because the public page is read-only.</p>
        """
    }

    private var settings: HTML {
        """
        <p>Settings are in the configuration file. <code>starwatch config print</code> shows the effective ones, \
        <code>starwatch config default</code> lists all, and <code>starwatch check</code> finds errors. \
        <code>starwatch reload</code> reloads the file.</p>
        """
    }

    // MARK: - Addresses

    private var fields: HTML {
        """
        <p><code>GET /api/v1/status</code> and <code>starwatch status --json</code>. Times are ISO 8601 in UTC. Fields \
        that are unknown or do not apply are left out. Fields keep their names and meanings; releases can add new \
        ones.</p>
        \(table("Fields", "Field", APIDescription.made?.statusFields.map { ($0.path, HTML(codeIn: $0.meaning)) } ?? []))
        """
    }

    private var addresses: HTML {
        let pages = ServedPage.reading + (canControl ? ServedPage.control : [])
        var rows = pages.map { ($0.path, HTML(codeIn: $0.meaning)) }
        rows.append((ControlAPI.status.path, "The status as JSON."))
        return table("Addresses", "Path", rows.sorted { $0.0 < $1.0 })
    }
}
