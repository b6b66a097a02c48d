import StarwatchCore

extension StatusPage {
    // MARK: - Polls

    var pollCards: [HTML] {
        if status.polls.isEmpty { return ["<p class=\"none\">There are no polls.</p>"] }
        return status.polls.sorted { $0.key < $1.key }.map { pollCard($0.key, $0.value) }
    }

    private func pollCard(_ name: String, _ poll: AgentStatus.Poll) -> HTML {
        let state: HTML =
            if poll.stale {
                "<span class=\"pill warn\">Stale</span>"
            } else if let skip = poll.skipReason {
                "<span class=\"pill\">\(Self.words(skip.rawValue))</span>"
            } else {
                "<span class=\"pill good\">Fresh</span>"
            }
        return """
            <article>
            <h3><span class="name">\(name)</span>\(state)</h3>
            \(freshness(poll))
            <dl>
            <dt>Last success</dt><dd>\(times.ageAndTime(poll.lastSuccess))</dd>
            <dt>Last attempt</dt><dd>\(times.ageAndTime(poll.lastAttempt)) \(outcome(poll))</dd>
            <dt>Next run</dt><dd>\(nextRun(poll))</dd>
            <dt>Watermark lag</dt><dd>\(watermarkLag(poll))</dd>
            <dt>Kind</dt><dd>\(Self.words(poll.kind.rawValue))</dd>
            </dl>
            </article>
            """
    }

    /// How much of the time a poll may go without success has passed.
    private func freshness(_ poll: AgentStatus.Poll) -> HTML {
        let limit = AgeText.duration(poll.staleAfterSeconds)
        guard let age = times.secondsSince(poll.lastSuccess), poll.staleAfterSeconds > 0 else {
            return "\(bar([("none", 0)]))<p class=\"caption\">No success yet; stale after \(limit)</p>"
        }
        let share = age / poll.staleAfterSeconds
        let kind: HTML = share >= 1 ? "bad" : share >= 0.75 ? "warn" : "good"
        let caption = "\(AgeText.duration(max(age, 0))) old; stale after \(limit)"
        return "\(bar([(kind, share)]))<p class=\"caption\">\(caption)</p>"
    }

    private func outcome(_ poll: AgentStatus.Poll) -> HTML {
        guard let outcome = poll.lastOutcome else { return "" }
        return "<small>\(Self.words(outcome).lowercased())</small>"
    }

    private func nextRun(_ poll: AgentStatus.Poll) -> HTML {
        guard let next = poll.nextRun, let late = times.secondsSince(next) else { return times.ageAndTime(nil) }
        return late >= 1 ? "due since \(AgeText.duration(late))" : times.ageAndTime(next)
    }

    /// From the newest change that was fetched back to the last one that is finished.
    private func watermarkLag(_ poll: AgentStatus.Poll) -> HTML {
        guard let mark = poll.watermarkTime, let markAge = times.secondsSince(mark) else {
            return times.ageAndTime(nil)
        }
        guard let cursorAge = times.secondsSince(poll.fetchCursorTime), markAge > cursorAge else {
            return "none <small>at \(times.clock(mark))</small>"
        }
        return "\(AgeText.duration(markAge - cursorAge)) <small>at \(times.clock(mark))</small>"
    }

    // MARK: - Outbox

    var outboxCard: HTML {
        let outbox = status.outbox
        let waiting = outbox.pending + outbox.claimed
        let capacity = Double(max(outbox.capacity, 1))
        let fill = bar([
            (outbox.backpressure ? "bad" : "good", Double(outbox.pending) / capacity),
            ("busy", Double(outbox.claimed) / capacity),
        ])
        let deadKind: HTML = outbox.dead > 0 ? "number bad" : "number"
        let backpressure: HTML =
            outbox.backpressure ? "<span class=\"pill bad\">Backpressure: polling pauses</span>" : ""
        let balance: HTML =
            outbox.ledgerImbalance == 0
            ? "balanced" : "<span class=\"pill bad\">\(outbox.ledgerImbalance) unaccounted for</span>"
        return """
            <article>
            <div class="numbers">
            <div class="number"><b>\(outbox.pending)</b>pending</div>
            <div class="number"><b>\(outbox.claimed)</b>claimed</div>
            <div class="number"><b>\(outbox.delivered)</b>delivered</div>
            <div class="\(deadKind)"><b>\(outbox.dead)</b>dead</div>
            </div>
            \(fill)
            <p class="caption">\(waiting) of \(outbox.capacity) places taken \(backpressure)</p>
            <dl class="wide">
            <dt>Oldest pending</dt><dd>\(times.ageAndTime(outbox.oldestPending))</dd>
            <dt>Oldest due</dt><dd>\(times.ageAndTime(outbox.oldestDue))</dd>
            <dt>Books</dt><dd>\(balance)</dd>
            </dl>
            </article>
            """
    }

    // MARK: - Surroundings

    var clockCard: HTML {
        let clock = status.clock
        let skew: HTML =
            if let seconds = clock.skewSeconds {
                "\(seconds < 0 ? "−" : "+")\(AgeText.duration(seconds.magnitude))"
            } else {
                "<span class=\"none\">not measured yet</span>"
            }
        let uncertainty: HTML =
            clock.uncertaintySeconds.map { " <small>± \(AgeText.duration($0.magnitude))</small>" } ?? ""
        return """
            <article><h3>Clock</h3><dl>
            <dt>Skew</dt><dd>\(skew)\(uncertainty)</dd>
            <dt>Last sync</dt><dd>\(times.ageAndTime(clock.lastSync))</dd>
            </dl></article>
            """
    }

    var serverCard: HTML {
        let server = status.server
        let dialect: HTML = server.dialect.map { "\($0.rawValue)" } ?? "<span class=\"none\">not known yet</span>"
        let throttle: HTML =
            if let until = server.throttledUntil, let past = times.secondsSince(until), past < 0 {
                "<span class=\"pill warn\">\(AgeText.duration(-past)) left</span> <small>\(times.clock(until))</small>"
            } else {
                "none"
            }
        return """
            <article><h3>Server</h3><dl>
            <dt>Dialect</dt><dd>\(dialect)</dd>
            <dt>Circuit</dt><dd>\(circuit(server.circuit))</dd>
            <dt>Throttle</dt><dd>\(throttle)</dd>
            </dl></article>
            """
    }

    var sinksCard: HTML {
        let rows = status.outbox.sinks.sorted { $0.key < $1.key }.map { sink -> HTML in
            "<dt>\(sink.key)</dt><dd>\(circuit(sink.value))</dd>"
        }
        let list: HTML = rows.isEmpty ? "<p class=\"none\">There are no sinks.</p>" : "<dl>\(rows)</dl>"
        return "<article><h3>Sinks</h3>\(list)</article>"
    }

    private func circuit(_ state: String) -> HTML {
        switch state {
        case "closed": "<span class=\"pill good\">working</span>"
        case "half_open": "<span class=\"pill warn\">circuit half open</span>"
        case "open": "<span class=\"pill bad\">circuit open</span>"
        default: "<span class=\"pill bad\">\(state)</span>"
        }
    }

    /// A bar of parts, each with a share of the whole. Widths are attributes, which the page's policy allows.
    private func bar(_ parts: [(kind: HTML, share: Double)]) -> HTML {
        var start = 0
        let pieces = parts.map { part -> HTML in
            let share = part.share.isFinite ? min(max(part.share, 0), 1) : 0
            // What there is, is seen, however little.
            let width = share == 0 ? 0 : min(max(Int(share * 1000), 6), 1000 - start)
            defer { start += width }
            return "<rect class=\"\(part.kind)\" x=\"\(start)\" width=\"\(width)\" height=\"8\"/>"
        }
        return """
            <svg class="bar" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">\(pieces)</svg>
            """
    }
}
