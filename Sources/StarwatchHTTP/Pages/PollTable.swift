import Starwatch
import StarwatchCore

/// The table of the polls on the status page.
struct PollTable {
    let status: AgentStatus
    let times: PageTimes

    var section: HTML {
        let isUnknown = status.lacksStore
        if status.polls.isEmpty {
            let text: HTML = isUnknown ? "Not known while the database cannot be read." : "There are no polls."
            return .card("polls", "Polls", "<p class=\"none\">\(text)</p>")
        }
        return .table(
            "polls",
            "Polls",
            of: [
                "Poll", "State", "Last success", "Last attempt", "Last new", "Behind", "Next run", "Watermark lag",
            ],
            rows: status.polls.sorted { $0.key < $1.key }.map { row($0.key, $0.value) }
        )
    }

    private func row(_ name: String, _ poll: AgentStatus.Poll) -> HTML {
        """
        <tr><th scope="row">\(name)</th>
        <td data-label="State"><div class="state">\(pill(name, poll))\(freshness(poll))</div></td>
        <td data-label="Last success"><div>\(times.ageAndTime(poll.lastSuccess, never: "not yet"))</div></td>
        <td data-label="Last attempt"><div>\(attempt(poll))</div></td>
        <td data-label="Last new"><div>\(times.ageAndTime(poll.lastNew))</div></td>
        <td data-label="Behind"><div>\(behind(name, poll))</div></td>
        <td data-label="Next run"><div>\(nextRun(poll))</div></td>
        <td data-label="Watermark lag"><div>\(watermarkLag(poll))</div></td></tr>
        \(why(poll))

        """
    }

    /// The error and the skip of a poll and the projects that it leaves out, as a row below its own; empty if there are none.
    private func why(_ poll: AgentStatus.Poll) -> HTML {
        var lines: [HTML] = []
        if let error = poll.lastError {
            lines.append("<p><b>Fails\(since(poll.failingSince)).</b> \(error)</p>")
        }
        // A run without a token is both a failure and a skip.
        if let skip = poll.skipReason, skip != .noToken || poll.lastError == nil {
            lines.append("<p><b>Skipped\(since(poll.skippedSince)):</b> \(skip.phrase).</p>")
        }
        if let leavesOut = poll.leavesOut { lines.append("<p><b>Projects left out.</b> \(leavesOut)</p>") }
        return lines.isEmpty ? "" : "<tr class=\"why\"><td colspan=\"8\">\(lines)</td></tr>"
    }

    private func since(_ time: String?) -> HTML { time.map { " since \(times.timeAndDuration($0))" } ?? "" }

    private func pill(_ name: String, _ poll: AgentStatus.Poll) -> HTML {
        let state = status.state(of: name, poll)
        let kind: HTML =
            switch state {
            case .needsAction, .stale, .failing: " bad"
            case .noEndpoint, .skipped, .behind: " warn"
            case .new: ""
            case .fresh: " good"
            }
        return "<span class=\"pill\(kind)\">\(StatusPage.words(state.words))</span>"
    }

    /// The age of the last success as a share of the stale limit.
    private func freshness(_ poll: AgentStatus.Poll) -> HTML {
        let limit = AgeText.duration(poll.staleAfterSeconds)
        var gauge = HTML.bar([("none", 0)])
        if let age = times.secondsSince(poll.lastSuccess), poll.staleAfterSeconds > 0 {
            let share = age / poll.staleAfterSeconds
            gauge = HTML.bar([(share >= 1 ? "bad" : share >= 0.75 ? "warn" : "good", share)])
        }
        return "\(gauge)<small>stale after \(limit)</small>"
    }

    private func attempt(_ poll: AgentStatus.Poll) -> HTML {
        guard let outcome = poll.lastOutcome else { return times.ageAndTime(poll.lastAttempt, never: "not yet") }
        let word: HTML = "\(StatusPage.words(outcome).lowercased())"
        let reason: HTML = poll.lastReason.map { "<br><small>\(StatusPage.phrase($0))</small>" } ?? ""
        return "\(word.alarming(outcome == "failed"))<br>\(times.ageAndTime(poll.lastAttempt))\(reason)"
    }

    private func nextRun(_ poll: AgentStatus.Poll) -> HTML {
        guard let next = poll.nextRun, let late = times.secondsSince(next) else { return times.ageAndTime(nil) }
        return late >= 1 ? "due since \(AgeText.duration(late))" : times.ageAndTime(next)
    }

    /// The time between the server's present and what the poll has seen of it.
    private func behind(_ name: String, _ poll: AgentStatus.Poll) -> HTML {
        guard let seconds = poll.secondsBehind(status) else { return times.ageAndTime(nil) }
        return ("\(AgeText.duration(seconds))" as HTML).alarming(status.has(.behind, of: name))
    }

    /// The time from the last finished change to the newest fetched one.
    private func watermarkLag(_ poll: AgentStatus.Poll) -> HTML {
        guard let mark = poll.watermarkTime, let markAge = times.secondsSince(mark) else {
            return times.ageAndTime(nil)
        }
        guard let cursorAge = times.secondsSince(poll.fetchCursorTime), markAge > cursorAge else {
            return "none \(times.time(mark))"
        }
        return "\(AgeText.duration(markAge - cursorAge)) \(times.time(mark))"
    }
}

/// The meanings of the status page's words, and what to do about each.
extension SkipReason {
    var meaning: HTML {
        switch self {
        case .noIdentity: "No identity is signed in: <code>starwatch identity set DID</code>."
        case .noStars: "The identity has no stars: <code>starwatch stars add ID</code>."
        case .optedOut:
            """
            It is switched off, by <code>polls.NAME.enabled</code> in the configuration or by \
            <code>starwatch identity opt-out KIND</code>, which <code>opt-in KIND</code> ends. An account of many can also \
            have been added with other polls only.
            """
        case .backpressure: "The outbox is nearly full."
        case .throttled: "Waiting for the server’s rate limit."
        case .circuitOpen: "The server failed repeatedly, so requests to it pause."
        case .endpointMissing:
            "The server has no endpoint for this kind of poll. The agent tries again once a day, and after a reload."
        case .noToken: "There is no key or token to sign in with. Check <code>auth</code> in the configuration."
        case .overlap: "The previous run was still in progress."
        }
    }
}

extension SlotCode {
    var meaning: HTML {
        switch self {
        case .stale: "The content was older than <code>ttl</code>, because the fetches fail. See the log."
        case .empty: "The content is empty, and <code>on_empty</code> is <code>skip</code>."
        case .noContent: "There was no content, and <code>on_missing</code> shows nothing instead. See the log."
        case .missed: "The agent was not running at the digest’s time or in the 10 minutes after it."
        case .undelivered: "No sink could be reached before the content expired."
        case .rejected: "The sinks rejected it."
        case .noSink: "All sinks of the digest are disabled. Fix them, then run <code>starwatch reload</code>."
        case .fetchFailed: "The fetch failed. The digest can still be shown; callbacks report the failure."
        }
    }
}
