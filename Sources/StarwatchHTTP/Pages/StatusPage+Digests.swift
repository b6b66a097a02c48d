import Starwatch
import StarwatchCore

extension StatusPage {
    /// The digests; empty if there are none.
    var digestSection: HTML {
        if status.digests.isEmpty { return "" }
        let rows = status.digests.sorted { $0.key < $1.key }.map { digestRow($0.key, $0.value) }
        return """
            <section class="card" aria-labelledby="digests">
            <table class="polls">
            <caption id="digests">Digests</caption>
            <thead><tr><th scope="col">Digest</th><th scope="col">Last result</th><th scope="col">Last time</th>\
            <th scope="col">Next time</th><th scope="col">Time zone</th></tr></thead>
            <tbody>\(rows)</tbody>
            </table>
            </section>
            """
    }

    private func digestRow(_ name: String, _ digest: AgentStatus.Digest) -> HTML {
        """
        <tr><th scope="row">\(name)</th>
        <td data-label="Last result"><div>\(result(digest))</div></td>
        <td data-label="Last time"><div>\(times.ageAndTime(digest.lastRun, never: "not yet"))</div></td>
        <td data-label="Next time"><div>\(times.ageAndTime(digest.nextRun))</div></td>
        <td data-label="Time zone"><div>\(digest.timezone)</div></td></tr>

        """
    }

    private func result(_ digest: AgentStatus.Digest) -> HTML {
        let why: HTML = digest.lastErrorCode.map { "<small>\(Self.words($0.rawValue).lowercased())</small>" } ?? ""
        return switch digest.lastStatus {
        case nil: "<span class=\"pill\">New</span>"
        // A sink has not taken it yet.
        case .scheduled: "<span class=\"pill warn\">In progress</span>"
        case .shown: "<span class=\"pill good\">Shown</span>"
        case .skipped: "<span class=\"pill\">No news</span>"
        case .skippedStale, .error: "<span class=\"pill bad\">Not shown</span>\(why)"
        }
    }
}
