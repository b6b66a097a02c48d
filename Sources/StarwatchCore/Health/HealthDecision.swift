/// Decides what is wrong, and says the most important thing in one line.
package enum HealthDecision {
    /// Everything that is wrong, the gravest first; empty if the agent is healthy.
    package static func problems(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        let known =
            store(facts) + polls(facts, now: now) + server(facts, now: now) + sinks(facts, now: now)
            + outbox(facts, now: now) + agent(facts, now: now) + restarts(facts.restarts, now: now)
        let ranks = Dictionary(uniqueKeysWithValues: Problem.Kind.allCases.enumerated().map { ($1, $0) })
        // The order of polls and sinks is that of the configuration.
        return known.enumerated().sorted { (ranks[$0.element.kind]!, $0.offset) < (ranks[$1.element.kind]!, $1.offset) }
            .map(\.element)
    }

    /// The state of a degraded agent in one line, such as `Polling stopped: sink hook down for 13 min, outbox 80 %
    /// full`; `nil` if it is healthy.
    ///
    /// If no poll can run, the line gives the causes. Otherwise it gives the gravest problem and the number of others. Those
    /// of one cause are one.
    package static func headline(_ problems: [Problem], _ facts: HealthFacts) -> String? {
        let causes = stops(problems, facts)
        if !causes.isEmpty { return "Polling stopped: " + causes.joined(separator: ", ") }
        let groups = ProblemGroup.groups(of: problems.map(\.group))
        guard let group = groups.first else { return nil }
        let line = group.title(problems[group.first].title)
        switch groups.count - 1 {
        case 0: return line
        case 1: return line + "; 1 more problem"
        case let others: return line + "; \(others) more problems"
        }
    }

    /// The causes that keep every poll from running, with the sinks that fill the outbox; empty if a poll can run.
    private static func stops(_ problems: [Problem], _ facts: HealthFacts) -> [String] {
        func phrases(_ matches: (Problem) -> Bool) -> [String] { problems.filter(matches).map(\.phrase) }
        guard facts.canReadStore else { return phrases(\.kind.isOfStore) }
        guard !facts.polls.isEmpty else { return [] }
        if facts.isSignedOut { return phrases { $0.kind == .signedOut } }
        var causes: [String] = []
        if facts.outbox.isUnderPressure {
            let kinds: [Problem.Kind] = [.sinkUnreachable, .sinkRejecting, .sinkDisabled, .backpressure]
            causes += phrases { kinds.contains($0.kind) }
        }
        causes += phrases { $0.kind == .serverUnreachable || $0.kind == .held }
        guard causes.isEmpty else { return causes }
        guard facts.polls.allSatisfy({ $0.lacksToken || $0.lacksStars }) else { return [] }
        if facts.polls.contains(where: \.lacksToken) { causes.append("no token") }
        if facts.polls.contains(where: \.lacksStars) { causes.append("no starred projects") }
        return causes
    }

    /// The problem of the database, or of its disk.
    private static func store(_ facts: HealthFacts) -> [Problem] {
        if facts.storeFault == nil, facts.isStoreLost {
            return [Problem(.storeLost, "the database’s file was deleted, moved or replaced", reason: "lost")]
        }
        guard let fault = facts.storeFault ?? (facts.canReadStore ? nil : .io) else {
            guard let disk = facts.disk, disk.isLow else { return [] }
            return [Problem(.diskLow, "the disk of the database has \(ByteSizeText.rough(disk.free)) left")]
        }
        let problem =
            switch fault {
            case .corrupt: Problem(.storeDamaged, "the database is damaged", reason: "damaged")
            case .full: Problem(.storeFull, "the disk of the database is full", reason: "full")
            case .busy: Problem(.storeBusy, "another program locks the database", reason: "busy")
            case .io, .version: Problem(.storeUnavailable, "the database fails", reason: "unusable")
            }
        return [problem]
    }

    private static func polls(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        facts.polls.flatMap { poll -> [Problem] in
            var problems: [Problem] = []
            let why = poll.failure.map { ": \($0.phrase)" } ?? ""
            func add(_ kind: Problem.Kind, _ phrase: String, since: Timestamp?, _ reason: FailureReason? = nil) {
                problems.append(Problem(kind, of: poll.name, phrase, reason: reason?.label.rawValue, since: since))
            }
            if poll.isRefused {
                let phrase = "the server refuses the credentials of poll \(poll.name)"
                add(.credentialsRefused, phrase, since: poll.failingSince, poll.failure)
            }
            if poll.lacksToken {
                add(.noToken, "poll \(poll.name) has no token", since: poll.failingSince, poll.failure)
            }
            if poll.isFailing, poll.failure?.cause == .contract {
                let phrase = "the server breaks its contract with poll \(poll.name)"
                add(.contractViolated, phrase, since: poll.failingSince, poll.failure)
            } else if poll.isFailing, facts.serverCircuit == .closed {
                // While the server does not answer, that is the reason, and the polls pause.
                add(.failing, "poll \(poll.name) fails" + why, since: poll.failingSince, poll.failure)
            }
            if poll.isStale { add(.stale, "poll \(poll.name) is stale", since: poll.staleSince, poll.failure) }
            if poll.lacksStars { add(.noStars, "poll \(poll.name) has no starred projects", since: poll.skippedSince) }
            if poll.lacksEndpoint {
                let phrase = "the server has no endpoint for poll \(poll.name)"
                add(.endpointMissing, phrase, since: poll.skippedSince)
            }
            if let backlog = poll.backlog {
                add(.behind, behind(poll.name, backlog), since: backlog.since)
            }
            return problems
        }
    }

    private static func behind(_ poll: String, _ backlog: FetchBacklog) -> String {
        let phrase = "poll \(poll) is behind the server"
        guard let rest = backlog.rest else { return phrase }
        let by = phrase + " by \(AgeText.duration(rest.inSeconds))"
        guard let left = backlog.timeLeft else { return by + ", and does not catch up" }
        return by + ", and catches up in \(AgeText.duration(left.inSeconds))"
    }

    private static func server(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        var problems: [Problem] = []
        if facts.serverCircuit != .closed {
            let reason = facts.polls.lazy.compactMap(\.failure).first?.label.rawValue
            let status = facts.polls.lazy.compactMap(\.failure?.status).first
            let phrase = status.map { "the server fails: HTTP \($0)" } ?? "the server does not answer"
            problems.append(Problem(.serverUnreachable, phrase, reason: reason))
        } else if facts.answers.hasManyErrors {
            let share = facts.answers.unsuccessful * 100 / max(facts.answers.requests, 1)
            problems.append(Problem(.answersWithErrors, "\(share) % of the requests of the last 15 min failed"))
        }
        if facts.answers.isSlow, let p95 = facts.answers.p95 {
            let usual = facts.answers.usual.map { ", usually \(AgeText.duration($0))" } ?? ""
            problems.append(Problem(.slow, "the server is slow: p95 \(AgeText.duration(p95))" + usual))
        }
        if let until = heldUntil(facts) {
            let phrase = "the server asks to wait until \(until.clock(on: now))"
            let reason = FailureReason.Cause.rateLimit.rawValue
            problems.append(Problem(.held, phrase, reason: reason, since: facts.hold?.since, until: until))
        }
        if let left = facts.tokensLeft, left < HealthFacts.fewTokens {
            problems.append(Problem(.tokenPoolLow, left == 1 ? "1 token is left" : "\(left) tokens are left"))
        }
        return problems
    }

    /// The end of the server's wait, if it is longer than the time between two runs of a poll. After refused credentials
    /// the wait is our own.
    private static func heldUntil(_ facts: HealthFacts) -> Timestamp? {
        guard let hold = facts.hold, let until = hold.until, let since = hold.since,
            let interval = facts.polls.compactMap(\.interval).min(), !facts.polls.contains(where: \.isRefused)
        else { return nil }
        return until - since > interval ? until : nil
    }

    /// The sinks that do not accept notifications.
    private static func sinks(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        facts.sinks.compactMap { sink in
            let (kind, phrase): (Problem.Kind, String)
            switch sink.condition {
            case .working: return nil
            case .down:
                let age = sink.downSince.map { " for \(AgeText.duration(max(0, (now - $0).inSeconds)))" } ?? ""
                (kind, phrase) = (.sinkUnreachable, "sink \(sink.name) down\(age)")
            case .rejecting: (kind, phrase) = (.sinkRejecting, "sink \(sink.name) rejects everything")
            case .disabled: (kind, phrase) = (.sinkDisabled, "sink \(sink.name) disabled")
            }
            return Problem(
                kind,
                of: sink.name,
                phrase,
                reason: sink.failure?.label.rawValue,
                since: sink.condition == .down ? sink.downSince : nil
            )
        }
    }

    private static func outbox(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        let outbox = facts.outbox
        var problems: [Problem] = []
        let letters = outbox.dead + outbox.undelivered
        if letters > 0 {
            problems.append(Problem(.deadLetters, letters == 1 ? "1 dead letter" : "\(letters) dead letters"))
        }
        if outbox.quarantined > 0 {
            let items = outbox.quarantined == 1 ? "1 invalid item" : "\(outbox.quarantined) invalid items"
            problems.append(Problem(.quarantined, items))
        }
        if outbox.isUnderPressure {
            let full = "outbox \(outbox.open * 100 / max(outbox.capacity, 1)) % full"
            problems.append(quietPressure(facts, full, now: now) ?? Problem(.backpressure, full))
        }
        if outbox.imbalance != 0 { problems.append(Problem(.ledgerImbalance, "the outbox counters are inconsistent")) }
        return problems
    }

    /// The backpressure that would not exist without the changes that the hours of a sink hold; `nil` if it would.
    private static func quietPressure(_ facts: HealthFacts, _ full: String, now: Timestamp) -> Problem? {
        guard let sink = quietest(facts), let held = sink.held, facts.outbox.open - held.count < facts.outbox.pressure
        else { return nil }
        let phrase = "\(full), because sink \(sink.name) is quiet until \(held.until.clock(on: now))"
        return Problem(.backpressure, phrase, reason: Problem.quietHours, until: held.until)
    }

    /// The sink whose hours hold most changes; `nil` if none holds any.
    private static func quietest(_ facts: HealthFacts) -> HealthFacts.Sink? {
        facts.sinks.filter { $0.held.map { $0.count > 0 } ?? false }.max { $0.held!.count < $1.held!.count }
    }

    /// Unusual facts that are no problem, in one line: quiet hours for which changes and the watermark wait, and polls that find
    /// nothing for unusually long; `nil` if there is neither.
    package static func notice(_ facts: HealthFacts, now: Timestamp) -> String? {
        let notices = [quiet(facts, now: now)].compactMap(\.self) + facts.polls.compactMap(silence)
        return notices.isEmpty ? nil : notices.joined(separator: "; ")
    }

    /// A server that answers empty for ever looks healthy.
    private static func silence(_ poll: HealthFacts.Poll) -> String? {
        guard let silence = poll.silence, silence.isUnusual else { return nil }
        let (length, gap) = (AgeText.duration(silence.length.inSeconds), AgeText.duration(silence.longestGap.inSeconds))
        return
            "Poll \(poll.name) has found no change for \(length), \(Int(silence.ratio)) times its longest gap of \(gap)"
    }

    private static func quiet(_ facts: HealthFacts, now: Timestamp) -> String? {
        guard let sink = quietest(facts), let held = sink.held else { return nil }
        // The headline says it then.
        if facts.outbox.isUnderPressure, quietPressure(facts, "", now: now) != nil { return nil }
        let changes = held.count == 1 ? "1 change" : "\(held.count) changes"
        let until = held.until.clock(on: now)
        return "Sink \(sink.name) is quiet until \(until): \(changes) and the watermark wait for it"
    }

    private static func agent(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        var problems: [Problem] = []
        func add(_ kind: Problem.Kind, of subject: String? = nil, _ phrase: String, since: Timestamp? = nil) {
            problems.append(Problem(kind, of: subject, phrase, since: since))
        }
        if facts.isSignedOut {
            problems.append(facts.accounts == nil ? Problem(.signedOut, "signed out") : .noActiveAccounts)
        }
        if let accounts = facts.accounts, accounts.areLate {
            let phrase = "accounts wait up to \(AgeText.duration(accounts.wait.inSeconds)) for their visit"
            add(.accountsLate, phrase, since: now - accounts.wait)
        } else if let accounts = facts.accounts, accounts.stale > 0 {
            let count = accounts.stale == 1 ? "1 account has" : "\(accounts.stale) accounts have"
            add(.accountsLate, "\(count) had no success for too long")
        } else if let accounts = facts.accounts, accounts.unreachable > 0 {
            let count = accounts.unreachable == 1 ? "1 account has" : "\(accounts.unreachable) accounts have"
            add(.accountsLate, "\(count) no address at any sink")
        }
        if let accounts = facts.accounts, accounts.failing > 0 {
            let count = accounts.failing == 1 ? "1 account fails" : "\(accounts.failing) accounts fail"
            let others = accounts.failuresDiffer ? " and other reasons" : ""
            let why = accounts.failure.map { ": \($0.phrase)" + others } ?? ""
            let reason = accounts.failure?.label.rawValue
            problems.append(Problem(.accountsFailing, count + why, reason: reason, since: accounts.failingSince))
        }
        if facts.isIdle { add(.noPolls, "there is nothing to poll") }
        if facts.failedAcknowledgements >= HealthFacts.acknowledgementsFailAfter {
            let failure = facts.acknowledgementFailure
            let phrase = "acknowledgements fail" + (failure.map { ": \($0.phrase)" } ?? "")
            problems.append(Problem(.acknowledgementsFailing, phrase, reason: failure?.label.rawValue))
        }
        if let refusal = facts.refusedReload { problems.append(refused(refusal)) }
        for port in facts.refusedPorts {
            add(.reloadRefused, of: port, "the changed web configuration of port \(port) was refused")
        }
        if facts.isSkewed { add(.clockSkew, "the clock differs from the server's") }
        if let jump = facts.jump, jump.isProblem {
            let way = jump.jump == .forward ? "ahead" : "back"
            let phrase = "the local clock was set \(way) by \(AgeText.duration(jump.size.inSeconds))"
            let end = now + (HealthFacts.Jump.lasts - jump.age)
            problems.append(
                Problem(.clockJumped, phrase, reason: jump.jump.rawValue, since: now - jump.age, until: end)
            )
        }
        if let canary = facts.canary, let since = canary.missingSince(now: now) {
            add(.canaryLate, "the canary does not arrive", since: since)
        }
        if let silence = facts.scrapeSilence {
            let phrase = "no scrape for \(AgeText.duration(silence.inSeconds))"
            add(.notScraped, phrase, since: now - silence)
        }
        return problems + facts.certificates.compactMap { $0.problem(now: now) }
    }

    /// A refused configuration. The phrase has the file's name and the line, as in `FILE:LINE: PATH: SENTENCE`; a path is
    /// long, and the rest is for who looks closer.
    private static func refused(_ refusal: RefusedReload) -> Problem {
        let error = refusal.sentence
        let reason = refusal.remedy == .correction ? nil : refusal.remedy.rawValue
        let phrase = "the changed configuration was refused: "
        guard error.hasPrefix("/"), let end = error.firstRange(of: ": ")?.lowerBound,
            let name = error[..<end].split(separator: "/").last
        else {
            let text = error.hasSuffix(".") ? error.dropLast() : error[...]
            return Problem(.reloadRefused, phrase + text, reason: reason)
        }
        var problem = Problem(.reloadRefused, phrase + name, reason: reason)
        problem.detail = error
        return problem
    }

    /// An agent that ends again and again and is started again works in between, so nothing else shows it.
    private static func restarts(_ ends: [RunEnd], now: Timestamp) -> [Problem] {
        let ends = RunEnd.unasked(ends, within: HealthFacts.restartWindow, now: now)
        guard ends.count >= HealthFacts.restartsOfTrouble, let last = ends.last else { return [] }
        // With one end less than the limit in the window, it is over.
        let decisive = ends[ends.count - HealthFacts.restartsOfTrouble]
        return [
            Problem(
                .restarting,
                "the agent ended \(ends.count) times within an hour; the last time it \(last.phrase)",
                since: ends.first?.at,
                until: decisive.at + HealthFacts.restartWindow
            )
        ]
    }
}
