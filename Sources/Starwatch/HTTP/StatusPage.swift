import StarwatchCore

/// The status page: what an operator wants to see first, without JavaScript. It asks itself again every 30 s.
struct StatusPage: Sendable {
    let status: AgentStatus
    let times: AgeText

    init(status: AgentStatus) {
        self.status = status
        times = AgeText(now: Timestamp(iso8601: status.now) ?? Timestamp(milliseconds: 0))
    }

    /// - Parameter nonce: The one of the `style-src` in the answer's policy.
    func html(nonce: String) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="refresh" content="30">
        <title>\(title)</title>
        <link rel="icon" href="\(Self.icon)">
        <style nonce="\(nonce)">\(Self.style)</style>
        </head>
        <body>
        <header>
        <h1><svg viewBox="0 0 24 24" aria-hidden="true"><path d="\(Self.star)"/></svg>Starwatch</h1>
        \(healthPill)
        </header>
        <main>
        \(staleBanner)
        \(degradedBanner)
        <h2>Polls</h2>
        <div class="grid">\(pollCards)</div>
        <h2>Outbox</h2>
        \(outboxCard)
        <h2>Surroundings</h2>
        <div class="grid">\(clockCard)\(serverCard)\(sinksCard)</div>
        </main>
        <footer>
        <nav><a href="metrics">Metrics</a><a href="api/v1/status">Status as JSON</a></nav>
        <p>Version \(status.version), up \(uptime). \(identity)<br>As of \(times.clock(status.now)), renewed every 30 s.</p>
        </footer>
        </body>
        </html>

        """
    }

    // MARK: - Head

    private var title: String { (status.status == .healthy ? "Healthy" : "Degraded") + " – Starwatch" }

    private var healthPill: HTML {
        switch status.status {
        case .healthy: "<span class=\"pill good\">Healthy</span>"
        case .degraded: "<span class=\"pill bad\">Degraded</span>"
        }
    }

    private var uptime: String { times.secondsSince(status.startedAt).map(AgeText.duration) ?? "–" }

    private var identity: HTML {
        guard let identity = status.identity else { return "Signed out." }
        return "Signed in as <code>\(identity)</code>."
    }

    /// The wording is that of R-NOT-13; the hours are those of the poll that was updated longest ago.
    private var staleBanner: HTML {
        let stale = status.polls.values.filter(\.stale)
        guard !stale.isEmpty else { return "" }
        let ages = stale.map { times.secondsSince($0.lastSuccess) }
        let updated: String
        if ages.contains(nil) {
            updated = "Not updated yet."
        } else {
            let oldest = ages.compactMap { $0 }.max() ?? 0
            // In hours only where there are some: a poll that runs every few seconds is stale within minutes.
            updated =
                oldest < 2 * 3600
                ? "Last updated \(AgeText.duration(oldest)) ago." : "Last updated \(Int(oldest / 3600)) hours ago."
        }
        return banner("warn", "<strong>Data may be outdated</strong> \(updated)")
    }

    private var degradedBanner: HTML {
        guard !status.reasons.isEmpty else { return "" }
        let reasons = status.reasons.map { reason -> HTML in
            let parts = reason.split(separator: ":", maxSplits: 1)
            let word = Self.words(String(parts.first ?? ""))
            return parts.count == 2 ? "<li>\(word): <code>\(String(parts[1]))</code></li>" : "<li>\(word)</li>"
        }
        return banner("bad", "<strong>Needs a look</strong><ul>\(reasons)</ul>")
    }

    private func banner(_ kind: HTML, _ content: HTML) -> HTML {
        "<section class=\"banner \(kind)\" role=\"status\">\(content)</section>"
    }

    /// `stale_poll` as `Stale poll`.
    static func words(_ identifier: String) -> String {
        let text = identifier.split(separator: "_", omittingEmptySubsequences: false).joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }
}
