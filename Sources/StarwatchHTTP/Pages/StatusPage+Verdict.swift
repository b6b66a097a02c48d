import Starwatch
import StarwatchCore

extension StatusPage {
    /// The answer to the operator's first question: is all well, and if not, why.
    struct Verdict {
        var title: String
        var tone: PageFrame.Tone
        /// A sentence, or the list of problems.
        var body: HTML

        var html: HTML {
            let (kind, mark): (HTML, HTML) =
                switch tone {
                case .good: ("good", "M7 12.5l3.4 3.4L17 9")
                case .warn, .bad: ("bad", "M12 6.5v6.5M12 16.8v.2")
                case .calm: ("calm", "M9.5 8v8M14.5 8v8")
                }
            return """
                <section class="verdict \(kind)" aria-labelledby="verdict">
                <svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="12"/><path d="\(mark)"/></svg>
                <div><h1 id="verdict">\(title)</h1>
                \(body)</div>
                </section>
                """
        }
    }

    var verdict: Verdict {
        if status.status == .degraded || !status.reasons.isEmpty {
            let count = status.reasons.count
            // The gravest first; unknown words last.
            let order = StatusReason.allCases
            let problems = status.reasons.enumerated().map { index, text in
                let reason = StatusReason.parse(text)?.reason
                return (rank: reason.flatMap(order.firstIndex) ?? order.count, index: index, text: text)
            }.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map { "<li>\(problem($0.text))</li>" as HTML }
            return Verdict(
                title: status.headline ?? (count == 1 ? "1 problem" : "\(count) problems"),
                tone: .bad,
                body: "<ul>\(problems)</ul>"
            )
        }
        if status.identity == nil {
            let body: HTML =
                "<p>No identity is signed in, so nothing is polled. <code>starwatch identity set DID</code> signs in.</p>"
            return Verdict(title: "Signed out", tone: .calm, body: body)
        }
        if status.polls.isEmpty && status.digests.isEmpty {
            let body: HTML =
                "<p>The configuration has no polls, so the agent sends no requests. <a href=\"help#settings\">How to add one</a></p>"
            return Verdict(title: "Nothing to do", tone: .calm, body: body)
        }
        return Verdict(title: "All is well", tone: .good, body: "<p>\(summary)</p>")
    }

    /// The state of a healthy agent in a few sentences.
    private var summary: HTML {
        let new = status.polls.values.count { $0.lastSuccess == nil }
        let fresh = status.polls.count - new
        var sentences: [String] = []
        if fresh > 0 {
            switch status.polls.count {
            case 1: sentences.append("The poll is fresh.")
            case 2 where fresh == 2: sentences.append("Both polls are fresh.")
            case fresh: sentences.append("All \(fresh) polls are fresh.")
            default: sentences.append("\(fresh) of \(status.polls.count) polls are fresh.")
            }
        }
        if new > 0 {
            sentences.append(new == 1 ? "One poll has not succeeded yet." : "\(new) polls have not succeeded yet.")
        }
        switch status.outbox.pending + status.outbox.claimed {
        case 0: sentences.append("Nothing waits to be delivered.")
        case 1: sentences.append("One change waits to be delivered.")
        case let waiting: sentences.append("\(waiting) changes wait to be delivered.")
        }
        if let left = throttleSecondsLeft {
            sentences.append("No request is sent for another \(AgeText.duration(left)).")
        }
        return "\(sentences.joined(separator: " "))"
    }

    /// The rest of the wait before the next request; `nil` if there is no wait.
    var throttleSecondsLeft: Double? {
        guard let past = times.secondsSince(status.server.throttledUntil), past < 0 else { return nil }
        return -past
    }

    /// A reason as a sentence, with the remedy.
    private func problem(_ text: String) -> HTML {
        guard let (reason, part) = StatusReason.parse(text) else { return "<b>\(Self.words(text)).</b>" }
        let (outbox, name) = (status.outbox, part ?? "")
        return switch reason {
        case .backpressure:
            """
            <b>The outbox is \((outbox.pending + outbox.claimed) * 100 / max(outbox.capacity, 1)) % full.</b> Polling \
            pauses until there is room; delivery continues.
            """
        case .circuitOpen where part == "server": "<b>The server does not answer.</b> The agent retries by itself."
        case .circuitOpen:
            "<b>Sink <code>\(name)</code> does not answer.</b> The agent retries by itself; nothing is lost."
        case .held: hold
        case .failing: failure(of: name)
        case .acknowledgementsFailing:
            """
            <b>Acknowledgements fail.</b> Notifications are delivered, and the agent retries by itself. \
            <code>starwatch logs --level warn</code> shows the errors.
            """
        case .reloadRefused: refusedReload(ofPort: part)
        case .clockSkew: skew
        case .deadLetters: deadLetters
        case .ledgerImbalance:
            """
            <b>The outbox counters are off by \(outbox.ledgerImbalance).</b> This is a defect of Starwatch; please \
            report it.
            """
        case .quarantined:
            """
            <b>\(outbox.quarantined == 1 ? "1 item" : "\(outbox.quarantined) items") of the server \
            \(outbox.quarantined == 1 ? "is" : "are") invalid.</b> \
            <code>starwatch quarantine list</code>, then <code>discard</code>.
            """
        case .sinkDisabled:
            "<b>Sink <code>\(name)</code> returned 410 Gone and is disabled.</b> Fix it, then send SIGHUP."
        case .sinkRejecting:
            """
            <b>Sink <code>\(name)</code> rejects every notification.</b> Check its URL and credentials; \
            <code>starwatch outbox show ID</code> shows its results.
            """
        case .signedOut:
            "<b>No identity is signed in, so nothing is polled.</b> <code>starwatch identity set DID</code> signs in."
        case .noStars:
            """
            <b>Poll <code>\(name)</code> has no starred projects, so it is skipped.</b> \
            <code>starwatch stars add ID</code> adds one.
            """
        case .noToken: "<b>Poll <code>\(name)</code> needs a token, and there is none.</b> Check <code>auth</code>."
        case .credentialsRefused:
            """
            <b>The server refuses the credentials of poll <code>\(name)</code>.</b> Check <code>auth</code>, the \
            identity’s permissions and this machine’s clock.
            """
        case .stale: "<b>Poll <code>\(name)</code> is stale.</b> \(staleness(name))"
        case .storeUnavailable: "<b>The database cannot be read.</b> Check the disk; the log has the error."
        }
    }

    private var hold: HTML {
        let until: HTML = status.server.throttledUntil.map { " until \(times.time($0))" } ?? ""
        return "<b>The server asks to wait\(until).</b> The agent sends no request before, and then continues."
    }

    private func failure(of name: String) -> HTML {
        let poll = status.polls[name]
        let why: HTML = poll?.lastError.map { "\($0)" } ?? "The log says why."
        let since: HTML = poll?.failingSince.map { " since \(times.timeAndDuration($0))" } ?? ""
        return "<b>Poll <code>\(name)</code> fails\(since).</b> \(why)"
    }

    private func refusedReload(ofPort port: String?) -> HTML {
        let what: HTML = port.map { "web configuration of port <code>\($0)</code>" } ?? "configuration"
        return """
            <b>The changed \(what) was refused, and the former one stays.</b> \
            <code>starwatch check</code> and the log show the errors; correct them\(port == nil ? ", then reload" : "").
            """
    }

    private var skew: HTML {
        let skew = AgeText.duration(status.clock.skewSeconds?.magnitude ?? 0)
        return "<b>The clock is \(skew) off the server’s.</b> Synchronise this machine’s clock."
    }

    private var deadLetters: HTML {
        let outbox = status.outbox
        let letters =
            outbox.dead > 0 || outbox.givenUp == 0
            ? outbox.dead == 1 ? "1 change" : "\(outbox.dead) changes"
            : outbox.givenUp == 1 ? "1 notification" : "\(outbox.givenUp) notifications"
        return """
            <b>\(letters) could not be delivered.</b> \
            <code>starwatch outbox list --state dead</code>, then <code>retry</code> or <code>discard</code>.
            """
    }

    private func staleness(_ name: String) -> HTML {
        guard let poll = status.polls[name] else { return "" }
        let limit = AgeText.duration(poll.staleAfterSeconds)
        let age =
            times.secondsSince(poll.lastSuccess).map { "No success for \(AgeText.duration($0)); " }
            ?? "No success yet; "
        let why: HTML =
            if let error = poll.lastError { "\(error)" } else if let skip = poll.skipReason {
                "Its runs are skipped: \(skip.phrase)."
            } else { "<code>starwatch poll \(name)</code> runs it now." }
        return "\(age)stale after \(limit). \(why)"
    }
}
