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
        let invalid: HTML = "\(outbox.quarantined) invalid"
        let quarantined: HTML = outbox.quarantined > 0 ? "<dt>Quarantined</dt><dd>\(invalid.alarming())</dd>" : ""
        let backpressure: HTML = outbox.backpressure ? "<span class=\"pill bad\">Polling pauses</span>" : ""
        let imbalance: HTML = "\(outbox.ledgerImbalance) unaccounted for"
        let balance = outbox.ledgerImbalance == 0 ? "consistent" : imbalance.alarming()
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
        let failed: HTML = "\(day.failed) failed"
        return """
            \(day.stored) stored, \(day.delivered) delivered, \(day.acknowledged) acknowledged, \
            \(failed.alarming(day.failed > 0))
            """
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
        let dialect: HTML = server.dialect.map { "\($0.rawValue)" } ?? .absent("unknown yet")
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
            return "\n<dt>Certificate of \(name)</dt><dd>\(time.alarming(isDue))</dd>"
        }
        return "\(token)\(key)\(certificates)"
    }

    /// The requests of the last 15 minutes.
    private var requests: HTML {
        guard let answers = status.server.answers, answers.requests > 0 else { return .absent("none within 15 min") }
        let failed: HTML = "\(answers.failed) failed"
        let isBad = status.has(.answersWithErrors) || answers.failed == answers.requests
        return "\(answers.requests) within 15 min, \(failed.alarming(isBad))"
    }

    private var latency: HTML {
        guard let p95 = status.server.answers?.p95Seconds else { return .absent("too few requests") }
        let usual: HTML =
            (status.server.answers?.usualP95Seconds).map { " <small>usually \(AgeText.duration($0))</small>" } ?? ""
        let text: HTML = "p95 \(AgeText.duration(p95))"
        return "\(text.alarming(status.has(.slow)))\(usual)"
    }

    var clockCard: HTML {
        let clock = status.clock
        let skew: HTML =
            if let seconds = clock.skewSeconds {
                "\(seconds < 0 ? "−" : "+")\(AgeText.duration(seconds.magnitude))"
            } else {
                .absent("not measured yet")
            }
        let uncertainty: HTML =
            clock.uncertaintySeconds.map { " <small>± \(AgeText.duration($0.magnitude))</small>" } ?? ""
        return card(
            "clock",
            "Clock",
            """
            <dl>
            <dt>Skew</dt><dd>\(skew.alarming(status.has(.clockSkew)))\(uncertainty)</dd>
            <dt>Last sync</dt><dd>\(times.ageAndTime(clock.lastSync, never: "not yet"))</dd>
            </dl>
            """
        )
    }

    var agentCard: HTML {
        let identity: HTML =
            status.identity.map { "<code>\($0)</code>" } ?? (status.lacksStore ? .absent("unknown") : "signed out")
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
        let oldest = times.ageAndTime(accounts.oldestDue, never: "none")
        func part(_ count: Int, _ words: HTML) -> HTML {
            count == 0 ? "" : ", \(("\(count) \(words)" as HTML).alarming())"
        }
        let missing = part(accounts.withoutAddress, "without an address")
        let failing = part(accounts.failing ?? 0, "failing")
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
            <dt>Oldest due</dt><dd>\(oldest.alarming(status.has(.accountsLate)))</dd>
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
        return "\(count.alarming(status.has(.restarting)))\(last)"
    }

    private var memory: HTML {
        guard let memory = status.memory else { return .absent("unknown") }
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

            <dt>Canary</dt><dd>\(arrival.alarming(status.has(.canaryLate))) \
            <small>every \(every)</small></dd>
            """
    }

    private var disk: HTML {
        guard let disk = status.disk else { return .absent("unknown") }
        let free: HTML = "\(ByteSizeText.rough(disk.freeBytes)) free"
        let isLow = status.has(.diskLow) || status.has(.storeFull)
        let size: HTML = " <small>the database has \(ByteSizeText.rough(disk.databaseBytes))</small>"
        return "\(free.alarming(isLow))\(size)"
    }

    private func card(_ id: HTML, _ title: HTML, _ content: HTML) -> HTML {
        .card(id, title, "\n\(content)")
    }

    private func circuit(_ state: String) -> HTML {
        let (kind, words): (HTML, HTML) =
            switch state {
            case "closed": ("good", "Working")
            case "half_open": ("warn", "Testing")
            case "open": ("bad", "Not answering")
            case "rejecting": ("bad", "Rejecting")
            case "disabled": ("bad", "Disabled")
            default: ("bad", "\(state)")
            }
        return "<span class=\"pill \(kind)\">\(words)</span>"
    }
}

extension AgentStatus.TimeZones {
    /// The machine's own zone, and the version of the rules.
    fileprivate var html: HTML {
        let local: HTML = local.map { "\($0)" } ?? ("the machine’s own cannot be read" as HTML).alarming()
        return """

            <dt>Time zone</dt><dd>\(local) <small>tzdata \(version), \(source)</small></dd>
            """
    }
}
