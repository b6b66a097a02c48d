import Starwatch
import StarwatchCore

/// The status page. It needs no JavaScript and reloads every 30 s.
struct StatusPage: Sendable {
    let status: AgentStatus
    /// Whether the same server has the control API.
    let canControl: Bool
    /// The newest lines of the stored log; `nil` if they cannot be read.
    var events: [LogLine]?
    let times: PageTimes

    init(status: AgentStatus, canControl: Bool = false) {
        (self.status, self.canControl, times) = (status, canControl, PageTimes(now: status.now))
    }

    var frame: PageFrame {
        let verdict = verdict
        return PageFrame(
            title: verdict.title,
            tone: verdict.tone,
            refreshSeconds: 30,
            aside: times.asOf,
            main: main(verdict)
        )
    }

    private func main(_ verdict: Verdict) -> HTML {
        """
        \(verdict.html)
        \(staleBanner)
        \(PollTable(status: status, times: times).section)
        \(digestSection)
        \(failingSection)
        <div class="grid wide">\(outboxCard)<div class="stack">\(sinksCard)\(serverCard)</div></div>
        <div class="grid">\(clockCard)\(agentCard)</div>
        \(eventsCard)
        """
    }

    /// The notice of stale data. Requirements fix its wording, which here leaves out the tap: a button is beside it, and
    /// most readers have a mouse. The age is that of the oldest stale poll.
    private var staleBanner: HTML {
        let stale = status.polls.filter(\.value.stale).sorted { $0.key < $1.key }
        guard !stale.isEmpty else { return "" }
        let ages = stale.map { times.secondsSince($0.value.lastSuccess) }
        let updated: String
        if ages.contains(nil) {
            updated = "Not updated yet."
        } else {
            let oldest = ages.compactMap { $0 }.max() ?? 0
            // A poll that runs every few seconds is stale within minutes, which 0 hours would hide.
            updated =
                oldest < 2 * 3600
                ? "Last updated \(AgeText.duration(oldest)) ago." : "Last updated \(Int(oldest / 3600)) hours ago."
        }
        let refresh: [HTML] =
            !canControl
            ? []
            : stale.map { name, _ in
                let label: HTML = stale.count == 1 ? "Refresh Now" : "Refresh \(name) Now"
                return "<form method=\"post\" action=\"api/v1/polls/\(name)/run\"><button>\(label)</button></form>"
            }
        // This page cannot refresh, so it says what can.
        let commands: [HTML] =
            canControl
            ? []
            : stale.map { name, _ in
                "<p>To refresh now, run <code>starwatch poll \(name)</code> on the agent’s machine.</p>"
            }
        return """
            <section class="banner" role="status" aria-labelledby="stale">
            <div><h2 id="stale">Data may be outdated</h2><p>\(updated)</p>\(commands)</div>
            <div class="actions">\(refresh)<a class="button" href="help#settings">Settings</a></div>
            </section>
            """
    }

    /// A ``FailureReason`` as a phrase; the text itself if it is unknown.
    static func phrase(_ reason: String) -> String { FailureReason(reason)?.phrase ?? reason }

    /// `stale_poll` as `Stale poll`.
    static func words(_ identifier: String) -> String {
        let text = identifier.split(separator: "_", omittingEmptySubsequences: false).joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }
}

extension StatusPage {
    /// The digests; empty if there are none.
    var digestSection: HTML {
        if status.digests.isEmpty { return "" }
        return .table(
            "digests",
            "Digests",
            of: ["Digest", "Last result", "Last time", "Next time", "Time zone"],
            rows: status.digests.sorted { $0.key < $1.key }.map { digestRow($0.key, $0.value) }
        )
    }

    private func digestRow(_ name: String, _ digest: AgentStatus.Digest) -> HTML {
        """
        <tr><th scope="row">\(name)</th>
        <td data-label="Last result"><div>\(result(digest))</div></td>
        <td data-label="Last time"><div>\(times.ageAndTime(digest.lastRun, never: status.accounts == nil ? "not yet" : "–"))</div></td>
        <td data-label="Next time"><div>\(times.ageAndTime(digest.nextRun))</div></td>
        <td data-label="Time zone"><div>\(digest.timezone)</div></td></tr>

        """
    }

    private func result(_ digest: AgentStatus.Digest) -> HTML {
        let why: HTML = digest.lastErrorCode.map { "<small>\(Self.words($0.rawValue).lowercased())</small>" } ?? ""
        return switch digest.lastStatus {
        // Each of many accounts has its own.
        case nil: status.accounts == nil ? "<span class=\"pill\">New</span>" : "<span class=\"none\">–</span>"
        // A sink has not taken it yet.
        case .scheduled: "<span class=\"pill warn\">In progress</span>"
        case .shown: "<span class=\"pill good\">Shown</span>"
        case .skipped: "<span class=\"pill\">No news</span>"
        case .skippedStale, .error: "<span class=\"pill bad\">Not shown</span>\(why)"
        }
    }
}

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
