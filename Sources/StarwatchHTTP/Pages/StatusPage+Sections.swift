import Starwatch
import StarwatchCore

extension StatusPage {
    var outboxCard: HTML {
        let outbox = status.outbox
        let waiting = outbox.pending + outbox.claimed
        let capacity = Double(max(outbox.capacity, 1))
        let fill = HTML.bar([
            (outbox.backpressure ? "bad" : "good", Double(outbox.pending) / capacity),
            ("busy", Double(outbox.claimed) / capacity),
        ])
        let deadKind: HTML = outbox.dead > 0 ? " class=\"bad\"" : ""
        let quarantined: HTML =
            outbox.quarantined > 0
            ? "<dt>Quarantined</dt><dd><span class=\"bad\">\(outbox.quarantined) invalid</span></dd>" : ""
        let backpressure: HTML = outbox.backpressure ? "<span class=\"pill bad\">Polling pauses</span>" : ""
        let balance: HTML =
            outbox.ledgerImbalance == 0
            ? "consistent" : "<span class=\"bad\">\(outbox.ledgerImbalance) unaccounted for</span>"
        let explain: HTML = canControl ? "<p class=\"more\"><a href=\"explain\">Explain a change</a></p>" : ""
        return card(
            "outbox",
            "Outbox",
            """
            <dl class="numbers">
            <div><dt>Pending</dt><dd>\(outbox.pending)</dd></div>
            <div><dt>Claimed</dt><dd>\(outbox.claimed)</dd></div>
            <div><dt>Unacknowledged</dt><dd>\(outbox.delivered)</dd></div>
            <div\(deadKind)><dt>Dead</dt><dd>\(outbox.dead)</dd></div>
            </dl>
            \(fill)
            <p class="caption"><span>\(waiting) of \(outbox.capacity) places taken</span> \(backpressure)</p>
            \(sinkWaits)
            <dl>
            <dt>Last 24 hours</dt><dd>\(lastDay)</dd>
            <dt>Oldest pending</dt><dd>\(times.ageAndTime(outbox.oldestPending, never: "none"))</dd>
            <dt>Oldest due</dt><dd>\(times.ageAndTime(outbox.oldestDue, never: "none"))</dd>
            <dt>Counters</dt><dd>\(balance)</dd>\(quarantined)
            </dl>
            \(explain)
            """
        )
    }

    /// The notifications of claimed rows, by the sink that they wait for.
    private var sinkWaits: HTML {
        let items = (status.outbox.waiting ?? [:]).sorted { $0.key < $1.key }.map { sink, wait -> HTML in
            let one = wait.notifications == 1
            let age = times.secondsSince(wait.since) ?? 0
            let since: HTML = age >= 0 ? " since \(times.timeAndDuration(wait.since))" : ""
            return """
                <li>\(wait.notifications) \(one ? "notification waits" : "notifications wait") for sink \
                <code>\(sink)</code>\(since); next attempt \(times.ageAndTime(wait.nextAttempt))</li>
                """
        }
        return items.isEmpty ? "" : "<ul class=\"waits\">\(items)</ul>"
    }

    private var lastDay: HTML {
        let day = status.outbox.lastDay ?? AgentStatus.LastDay()
        let failed: HTML = day.failed > 0 ? "<span class=\"bad\">\(day.failed) failed</span>" : "0 failed"
        return "\(day.stored) stored, \(day.delivered) delivered, \(day.acknowledged) acknowledged, \(failed)"
    }

    var sinksCard: HTML {
        let rows = status.outbox.sinks.sorted { $0.key < $1.key }.map { sink -> HTML in
            let reason: HTML =
                status.outbox.sinkReasons[sink.key].map { " <small>\(Self.phrase($0))</small>" } ?? ""
            let success: HTML =
                status.outbox.sinkLastSuccess?[sink.key].map {
                    "<br><small>Last success \(times.ageAndTime($0))</small>"
                } ?? ""
            return "<tr><th scope=\"row\">\(sink.key)</th><td>\(circuit(sink.value))\(reason)\(success)</td></tr>"
        }
        if rows.isEmpty { return card("sinks", "Sinks", "<p class=\"none\">There are no sinks.</p>") }
        return .table("sinks", "Sinks", kind: "sinks", isHeadSeen: false, of: ["Sink", "State"], rows: rows)
    }

    var serverCard: HTML {
        let server = status.server
        let dialect: HTML = server.dialect.map { "\($0.rawValue)" } ?? "<span class=\"none\">unknown yet</span>"
        let throttle: HTML =
            if let until = server.throttledUntil, let left = throttleSecondsLeft {
                "<span class=\"pill warn\">\(AgeText.duration(left)) left</span> \(times.time(until))"
            } else {
                "none"
            }
        return card(
            "server",
            "Server",
            """
            <dl>
            <dt>Circuit</dt><dd>\(circuit(server.circuit))</dd>
            <dt>Throttle</dt><dd>\(throttle)</dd>
            <dt>Requests</dt><dd>\(requests)</dd>
            <dt>Latency</dt><dd>\(latency)</dd>
            <dt>Dialect</dt><dd>\(dialect)</dd>\(credentials)
            </dl>
            """
        )
    }

    /// The expiry of the token, the age of its key, and the expiries of the certificates, as far as they are known.
    private var credentials: HTML {
        let token: HTML =
            status.server.tokenExpires.map { "\n<dt>Token</dt><dd>expires \(times.ageAndTime($0))</dd>" } ?? ""
        let key: HTML =
            status.server.keyCreated.map { "\n<dt>Key</dt><dd>created \(times.ageAndTime($0))</dd>" } ?? ""
        let certificates = (status.certificates ?? [:]).sorted { $0.value < $1.value }.map { name, expiry -> HTML in
            let isDue = Problem.Kind.allCases.contains { $0.topic == .certificate && status.has($0, of: name) }
            let time: HTML = "expires \(times.ageAndTime(expiry))"
            let shown: HTML = isDue ? "<span class=\"bad\">\(time)</span>" : time
            return "\n<dt>Certificate of \(name)</dt><dd>\(shown)</dd>"
        }
        return "\(token)\(key)\(certificates)"
    }

    /// The requests of the last 15 minutes.
    private var requests: HTML {
        guard let answers = status.server.answers, answers.requests > 0 else {
            return "<span class=\"none\">none within 15 min</span>"
        }
        let failed: HTML =
            status.has(.answersWithErrors) || answers.failed == answers.requests
            ? "<span class=\"bad\">\(answers.failed) failed</span>" : "\(answers.failed) failed"
        return "\(answers.requests) within 15 min, \(failed)"
    }

    private var latency: HTML {
        guard let p95 = status.server.answers?.p95Seconds else { return "<span class=\"none\">too few requests</span>" }
        let usual: HTML =
            (status.server.answers?.usualP95Seconds).map { " <small>usually \(AgeText.duration($0))</small>" } ?? ""
        let text: HTML = "p95 \(AgeText.duration(p95))"
        return "\(status.has(.slow) ? "<span class=\"bad\">\(text)</span>" : text)\(usual)"
    }

    var clockCard: HTML {
        let clock = status.clock
        let isOff = status.has(.clockSkew)
        let skew: HTML =
            if let seconds = clock.skewSeconds {
                "\(seconds < 0 ? "−" : "+")\(AgeText.duration(seconds.magnitude))"
            } else {
                "<span class=\"none\">not measured yet</span>"
            }
        let uncertainty: HTML =
            clock.uncertaintySeconds.map { " <small>± \(AgeText.duration($0.magnitude))</small>" } ?? ""
        return card(
            "clock",
            "Clock",
            """
            <dl>
            <dt>Skew</dt><dd>\(isOff ? "<span class=\"bad\">\(skew)</span>" : skew)\(uncertainty)</dd>
            <dt>Last sync</dt><dd>\(times.ageAndTime(clock.lastSync, never: "not yet"))</dd>
            </dl>
            """
        )
    }

    var agentCard: HTML {
        let isUnknown = status.lacksStore
        let identity: HTML =
            if let pseudonym = status.identity { "<code>\(pseudonym)</code>" } else if isUnknown {
                "<span class=\"none\">unknown</span>"
            } else { "signed out" }
        let uptime = times.secondsSince(status.startedAt).map(AgeText.duration) ?? "–"
        return card(
            "agent",
            "Agent",
            """
            <dl>
            \(accounts ?? "<dt>Identity</dt><dd>\(identity)</dd>")
            <dt>Up</dt><dd>\(uptime)</dd>
            <dt>Version</dt><dd>\(status.version)</dd>
            <dt>Restarts</dt><dd>\(restarts)</dd>
            <dt>Memory</dt><dd>\(memory)</dd>
            <dt>Disk</dt><dd>\(disk)</dd>
            <dt>Last scrape</dt><dd>\(times.ageAndTime(status.lastScrape, never: "none since the start"))</dd>\(status.timeZones?.html ?? "")\(canary)
            </dl>
            """
        )
    }

    /// The accounts in numbers; `nil` for an agent that works for one identity.
    private var accounts: HTML? {
        guard let accounts = status.accounts else { return nil }
        let isLate = status.has(.accountsLate)
        let oldest = times.ageAndTime(accounts.oldestDue, never: "none")
        let missing: HTML =
            accounts.withoutAddress == 0
            ? "" : ", <span class=\"bad\">\(accounts.withoutAddress) without an address</span>"
        let failing: HTML =
            accounts.failing.flatMap { $0 > 0 ? ", <span class=\"bad\">\($0) failing</span>" : nil } ?? ""
        let least = AgeText.duration(accounts.roundSeconds)
        let round: HTML =
            if accounts.active == 0 { "none" } else if let requests = accounts.roundRequests {
                "takes \(requests) request\(requests == 1 ? "" : "s"), at least \(least)"
            } else { "takes at least \(least)" }
        let shared: HTML =
            if let requests = accounts.sharedRequests, let saved = accounts.savedRequests {
                "<dt>Shared requests</dt><dd>\(requests) <small>\(saved) saved since the start</small></dd>"
            } else { "" }
        return """
            <dt>Accounts</dt><dd>\(accounts.active) active <small>\(accounts.paused) paused, \(accounts.due) due\(missing)\(failing)</small></dd>
            <dt>Oldest due</dt><dd>\(isLate ? "<span class=\"bad\">\(oldest)</span>" : oldest)</dd>
            <dt>One round</dt><dd>\(round)</dd>\(shared)
            """
    }

    /// The ends of the last 24 hours that nobody asked for.
    private var restarts: HTML {
        guard let restarts = status.restarts, restarts.lastDay > 0 else { return "none within 24 h" }
        let count: HTML = "\(restarts.lastDay) within 24 h"
        let cause = restarts.lastCause.flatMap { RunEndCause(rawValue: $0)?.phrase }
        let start: HTML = restarts.lastAfter.map { "between \(times.ageAndTime($0)) and " } ?? ""
        let last: HTML =
            cause.map { " <small>the last time it \($0), \(start)\(times.ageAndTime(restarts.lastAt))</small>" } ?? ""
        return "\(status.has(.restarting) ? "<span class=\"bad\">\(count)</span>" : count)\(last)"
    }

    private var memory: HTML {
        guard let memory = status.memory else { return "<span class=\"none\">unknown</span>" }
        let settled: HTML =
            memory.settledBytes.map { " <small>\($0 >> 20) MiB 10 min after the start</small>" } ?? ""
        return "\(memory.residentBytes >> 20) MiB\(settled)"
    }

    /// The last synthetic change that has reached its sinks; empty without canaries.
    private var canary: HTML {
        guard let canary = status.canary else { return "" }
        let arrival = times.ageAndTime(canary.lastArrival, never: "none has arrived yet")
        let every = AgeText.duration(canary.everySeconds)
        return """

            <dt>Canary</dt><dd>\(status.has(.canaryLate) ? "<span class=\"bad\">\(arrival)</span>" : arrival) \
            <small>every \(every)</small></dd>
            """
    }

    private var disk: HTML {
        guard let disk = status.disk else { return "<span class=\"none\">unknown</span>" }
        let free: HTML = "\(ByteSizeText.rough(disk.freeBytes)) free"
        let isLow = status.has(.diskLow) || status.has(.storeFull)
        let size: HTML = " <small>the database has \(ByteSizeText.rough(disk.databaseBytes))</small>"
        return "\(isLow ? "<span class=\"bad\">\(free)</span>" : free)\(size)"
    }

    private func card(_ id: HTML, _ title: HTML, _ content: HTML) -> HTML {
        "<section class=\"card\" aria-labelledby=\"\(id)\"><h2 id=\"\(id)\">\(title)</h2>\n\(content)</section>"
    }

    private func circuit(_ state: String) -> HTML {
        switch state {
        case "closed": "<span class=\"pill good\">Working</span>"
        case "half_open": "<span class=\"pill warn\">Testing</span>"
        case "open": "<span class=\"pill bad\">Not answering</span>"
        case "rejecting": "<span class=\"pill bad\">Rejecting</span>"
        case "disabled": "<span class=\"pill bad\">Disabled</span>"
        default: "<span class=\"pill bad\">\(state)</span>"
        }
    }
}

extension AgentStatus.TimeZones {
    /// The machine's own zone, and the version of the rules.
    fileprivate var html: HTML {
        let local: HTML = local.map { "\($0)" } ?? "<span class=\"bad\">the machine’s own cannot be read</span>"
        return """

            <dt>Time zone</dt><dd>\(local) <small>tzdata \(version), \(source)</small></dd>
            """
    }
}
