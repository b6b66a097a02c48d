import Starwatch
import StarwatchCore

/// The agent's status as text for a person.
extension StatusCommand {
    static func page(_ status: AgentStatus) -> String {
        let now = Timestamp(iso8601: status.now) ?? Timestamp(milliseconds: 0)
        return [
            TextTable.pairs(head(status, now)),
            problems(status, now)?.text,
            polls(status, now).text,
            errors(status, now),
            status.digests.isEmpty ? nil : digests(status, now).text,
            status.lacksStore
                ? TextTable.pairs([("Outbox", "unknown, because the database cannot be read")])
                : TextTable.pairs(outbox(status.outbox, now)),
            sinks(status.outbox, now).text,
            TextTable.pairs(surroundings(status, now)),
        ].compactMap { $0 }.map { $0 + "\n" }.joined(separator: "\n")
    }

    private static func head(_ status: AgentStatus, _ now: Timestamp) -> [(String, String)] {
        let up = Timestamp(iso8601: status.startedAt).map { AgeText.duration(max(0, (now - $0).inSeconds)) } ?? "-"
        let rows: [(String, String)?] = [
            ("Status", status.status.rawValue + ((status.headline ?? status.notice).map { ": \($0)" } ?? "")),
            status.headline == nil ? nil : status.notice.map { ("Quiet", $0) },
            status.accounts.map { ("Accounts", accounts($0, now)) }
                ?? ("Identity", status.identity ?? (status.lacksStore ? "unknown" : "signed out")),
            status.accounts.flatMap(sharing).map { ("Shared", $0) },
            ("Agent", "starwatch \(status.version)\(status.pid.map { ", pid \($0)" } ?? ""), up \(up)"),
        ]
        return rows.compactMap(\.self)
    }

    private static func accounts(_ accounts: AgentStatus.Accounts, _ now: Timestamp) -> String {
        let waiting =
            accounts.oldestDue.map { ", \(accounts.due) due, the oldest \(age(of: $0, now))" }
            ?? ", none due"
        let numbers = "\(accounts.active) active, \(accounts.paused) paused"
        guard accounts.active > 0 else { return numbers }
        let stale = accounts.stale > 0 ? ", \(accounts.stale) without success for too long" : ""
        let failing = accounts.failing.flatMap { $0 > 0 ? ", \($0) failing" : nil } ?? ""
        let missing = accounts.withoutAddress > 0 ? ", \(accounts.withoutAddress) without an address" : ""
        let requests = accounts.roundRequests.map { "\($0.counted("request")), " } ?? ""
        return numbers + failing + stale + missing + waiting
            + "; one round takes \(requests)at least \(AgeText.duration(accounts.roundSeconds))"
    }

    /// The requests that sharing saved; `nil` if each account asks alone.
    private static func sharing(_ accounts: AgentStatus.Accounts) -> String? {
        guard let requests = accounts.sharedRequests, let polls = accounts.sharedPolls,
            let saved = accounts.savedRequests
        else { return nil }
        return "\(requests) requests answered \(polls) polls since the start: \(saved) requests saved"
    }

    /// The problems with the command that answers each; `nil` without any.
    private static func problems(_ status: AgentStatus, _ now: Timestamp) -> TextTable? {
        // An older agent lists words only.
        let rows =
            status.shownProblems?.map { [$0.title, age(of: $0.since, now), $0.command ?? "-"] }
            ?? status.reasons.map { [$0, "-", "-"] }
        return rows.isEmpty ? nil : TextTable(titles: ["PROBLEM", "SINCE", "NEXT COMMAND"], rows: rows)
    }

    private static func polls(_ status: AgentStatus, _ now: Timestamp) -> TextTable {
        TextTable(
            titles: ["POLL", "STATE", "LAST SUCCESS", "OUTCOME", "LAST NEW", "BEHIND", "NEXT RUN", "WATERMARK"],
            rows: status.polls.sorted { $0.key < $1.key }.map { name, poll in
                [
                    name, status.state(of: name, poll).words,
                    age(of: poll.lastSuccess, now, never: "never"), outcome(poll),
                    age(of: poll.lastNew, now), behind(poll, status),
                    age(of: poll.nextRun, now), poll.watermarkTime ?? "-",
                ]
            }
        )
    }

    /// The time between the server's present and what the poll has seen of it.
    private static func behind(_ poll: AgentStatus.Poll, _ status: AgentStatus) -> String {
        poll.secondsBehind(status).map(AgeText.duration) ?? "-"
    }

    private static func outcome(_ poll: AgentStatus.Poll) -> String {
        let outcome = poll.lastOutcome ?? "-"
        return phrase(poll.lastReason).map { "\(outcome) (\($0))" } ?? outcome
    }

    /// The failure and the skip of each poll that has one, the projects that it leaves out, and what the titles of problems leave out; `nil` if nothing.
    private static func errors(_ status: AgentStatus, _ now: Timestamp) -> String? {
        func lasts(_ time: String?) -> String { time.map { " for \(duration(since: $0, now))" } ?? "" }
        let errors = status.polls.sorted { $0.key < $1.key }.flatMap { name, poll -> [(String, String)] in
            let error = poll.lastError.map { "failing\(lasts(poll.failingSince)): \($0)" }
            // A run without a token is both a failure and a skip.
            let shown = poll.skipReason == .noToken && error != nil ? nil : poll.skipReason
            let skip = shown.map { "skipped\(lasts(poll.skippedSince)): \($0.phrase)" }
            return [error, skip, poll.leavesOut].compactMap { $0 }.map { ("Poll \(name)", $0) }
        }
        let details = (status.problems ?? []).compactMap { problem in problem.detail.map { (problem.title, $0) } }
        return errors.isEmpty && details.isEmpty ? nil : TextTable.pairs(errors + details)
    }

    private static func duration(since time: String, _ now: Timestamp) -> String {
        Timestamp(iso8601: time).map { AgeText.duration(max(0, (now - $0).inSeconds)) } ?? "-"
    }

    /// The phrase of a reason; the word itself if it is unknown.
    private static func phrase(_ reason: String?) -> String? { reason.map { FailureReason($0)?.phrase ?? $0 } }

    private static func digests(_ status: AgentStatus, _ now: Timestamp) -> TextTable {
        TextTable(
            titles: ["DIGEST", "LAST", "RESULT", "WHY", "NEXT", "ZONE"],
            rows: status.digests.sorted { $0.key < $1.key }.map { name, digest in
                [
                    name, age(of: digest.lastRun, now, never: status.accounts == nil ? "never" : "-"),
                    digest.lastStatus?.rawValue ?? "-", digest.lastErrorCode?.rawValue ?? "-",
                    age(of: digest.nextRun, now), digest.timezone,
                ]
            }
        )
    }

    private static func outbox(_ outbox: AgentStatus.Outbox, _ now: Timestamp) -> [(String, String)] {
        let waiting = outbox.pending + outbox.claimed
        let day = outbox.lastDay ?? AgentStatus.LastDay()
        let sinks = (outbox.waiting ?? [:]).sorted { $0.key < $1.key }.map { sink, wait -> (String, String) in
            let count = wait.notifications == 1 ? "1 notification waits" : "\(wait.notifications) notifications wait"
            let isDue = Timestamp(iso8601: wait.since).map { $0 <= now } ?? true
            let lasting = isDue ? " for \(duration(since: wait.since, now))" : ""
            let next = age(of: wait.nextAttempt, now)
            let notices = wait.notifications == 1 ? "a notice" : "notices"
            let held =
                wait.held.map { "; its hours hold \($0 == 0 ? notices : $0.counted("change"))" }
                ?? ""
            return ("Waiting", "\(count) for sink \(sink)\(lasting) (next attempt \(next)\(held))")
        }
        let counts = ["\(day.stored) stored", "\(day.delivered) delivered", "\(day.acknowledged) acknowledged"]
        let head: [(String, String)] = [
            (
                "Outbox",
                "\(waiting) of \(outbox.capacity) waiting (\(outbox.pending) pending, \(outbox.claimed) claimed), "
                    + "\(outbox.delivered) unacknowledged, \(outbox.dead) dead"
                    + (outbox.givenUp > 0 ? ", \(outbox.givenUp) given up" : "")
            )
        ]
        return head + sinks + [
            ("Last 24 h", (counts + ["\(day.failed) failed"]).joined(separator: ", ")),
            (
                "Oldest",
                "pending \(age(of: outbox.oldestPending, now, never: "none")), "
                    + "due \(age(of: outbox.oldestDue, now, never: "none"))"
            ),
            ("Backpressure", outbox.backpressure ? "on: polling pauses until rows are delivered" : "off"),
            ("Quarantined", outbox.quarantined == 0 ? "none" : "\(outbox.quarantined) invalid items of the server"),
            ("Counters", outbox.ledgerImbalance == 0 ? "consistent" : "off by \(outbox.ledgerImbalance) rows"),
        ]
    }

    private static func sinks(_ outbox: AgentStatus.Outbox, _ now: Timestamp) -> TextTable {
        TextTable(
            titles: ["SINK", "CIRCUIT", "LAST SUCCESS", "WAITING", "LAST FAILURE"],
            rows: outbox.sinks.sorted { $0.key < $1.key }.map { name, circuit in
                [
                    name, circuit, age(of: outbox.sinkLastSuccess?[name], now),
                    outbox.waiting?[name]?.changes.map { $0.counted("change") } ?? "-",
                    phrase(outbox.sinkReasons[name]) ?? "-",
                ]
            }
        )
    }

    private static func surroundings(_ status: AgentStatus, _ now: Timestamp) -> [(String, String)] {
        let server = status.server
        var way = "dialect \(server.dialect?.rawValue ?? "unknown yet"), circuit \(server.circuit)"
        if server.throttledUntil != nil {
            way += ", throttled, next request \(age(of: server.throttledUntil, now))"
        }
        return [
            ("Server", way), ("Requests", requests(server)), ("Clock", clock(status.clock, now)),
            ("Scraped", age(of: status.lastScrape, now, never: "never since the start")),
        ] + (token(server, now).map { [("Token", $0)] } ?? [])
            + (status.memory.map { [("Memory", memory($0))] } ?? [])
            + (status.storage.map { [("Database", database($0))] } ?? [])
            + (status.disk.map { [("Disk", disk($0))] } ?? [])
            + (certificates(status, now).map { [("Certificates", $0)] } ?? [])
            + (status.timeZones.map { [("Time zones", $0.text)] } ?? [])
            + (status.canary.map { [("Canary", canary($0, now))] } ?? [])
            + (status.restarts.flatMap { restarts($0, now) }.map { [("Restarts", $0)] } ?? [])
    }

    /// The certificates whose expiry is known; `nil` without one.
    private static func certificates(_ status: AgentStatus, _ now: Timestamp) -> String? {
        let parts = (status.certificates ?? [:]).sorted { $0.value < $1.value }.map { name, expiry in
            let isOver = Timestamp(iso8601: expiry).map { $0 <= now } ?? false
            return "\(name) \(isOver ? "expired" : "expires") \(age(of: expiry, now))"
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func canary(_ canary: AgentStatus.Canary, _ now: Timestamp) -> String {
        canary.lastArrival.map { "the last one to arrive was sent \(age(of: $0, now))" }
            ?? "none has arrived yet"
    }

    private static func requests(_ server: AgentStatus.Server) -> String {
        answers(server.answers) + (server.requestsLeft.map { "; the limits allow \($0) more this minute" } ?? "")
    }

    /// The expiry of the token and the age of its key; `nil` if neither is known.
    private static func token(_ server: AgentStatus.Server, _ now: Timestamp) -> String? {
        let parts = [
            server.tokenExpires.map { "expires \(age(of: $0, now))" },
            server.keyCreated.map { "key created \(age(of: $0, now))" },
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func memory(_ memory: AgentStatus.Memory) -> String {
        "\(memory.residentBytes >> 20) MiB resident, "
            + (memory.settledBytes.map { "\($0 >> 20) MiB 10 min after the start" } ?? "compared 10 min after the start")
    }

    private static func answers(_ answers: AgentStatus.Answers?) -> String {
        guard let answers, answers.requests > 0 else { return "none within 15 min" }
        var text = "\(answers.requests) within 15 min, \(answers.failed) failed"
        if let p95 = answers.p95Seconds { text += ", p95 \(AgeText.duration(p95))" }
        if let usual = answers.usualP95Seconds { text += " (usually \(AgeText.duration(usual)))" }
        return text
    }

    private static func disk(_ disk: AgentStatus.Disk) -> String {
        "\(ByteSizeText.rough(disk.freeBytes)) free, the database has \(ByteSizeText.rough(disk.databaseBytes))"
    }

    /// The ends that nobody asked for; `nil` without one.
    private static func restarts(_ restarts: AgentStatus.Restarts, _ now: Timestamp) -> String? {
        guard restarts.lastDay > 0 else { return nil }
        let cause = restarts.lastCause.map { RunEndCause(rawValue: $0)?.phrase ?? $0 } ?? "ended"
        let time = age(of: restarts.lastAt, now)
        let start = restarts.lastAfter.map { "between \(age(of: $0, now)) and " } ?? ""
        return "\(restarts.lastDay) in 24 h that nobody asked for; the last \(start)\(time): it \(cause)"
    }

    private static func database(_ storage: AgentStatus.Storage) -> String {
        guard storage.encrypted else { return "not encrypted" }
        guard let part = storage.reencryption else { return "encrypted" }
        return "encrypted, rotation of its keys \(Int(part * 100)) % done"
    }

    private static func clock(_ clock: AgentStatus.Clock, _ now: Timestamp) -> String {
        guard let skew = clock.skewSeconds else { return "not compared with the server's yet" }
        let direction = skew < 0 ? "behind ours" : "ahead of ours"
        var text = "the server's is \(thousandths(abs(skew))) s \(direction)"
        if let uncertainty = clock.uncertaintySeconds { text += " ± \(thousandths(uncertainty)) s" }
        return text + ", compared \(age(of: clock.lastSync, now, never: "at an unknown time"))"
    }

    /// Three decimals.
    private static func thousandths(_ seconds: Double) -> String {
        guard abs(seconds) < 1e12 else { return "\(seconds)" }
        let value = Int((seconds * 1000).rounded())
        return "\(value / 1000).\(String(value % 1000, width: 3))"
    }

    /// A time relative to now: `12 s ago`, `in 3 min`.
    ///
    /// - Parameter text: An RFC 3339 time; `nil` or anything else gives `never`.
    static func age(of text: String?, _ now: Timestamp, never: String = "-") -> String {
        guard let text, let time = Timestamp(iso8601: text) else { return never }
        return AgeText.age((now - time).inSeconds)
    }
}
