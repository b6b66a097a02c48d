/// Decides what is wrong, and says the most important thing in one line.
package enum HealthDecision {
    /// Everything that is wrong, the gravest first; empty if the agent is healthy.
    package static func problems(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        let known =
            polls(facts) + server(facts, now: now) + sinks(facts, now: now) + outbox(facts.outbox) + agent(facts)
            + restarts(facts.restarts, now: now)
        let ranks = Dictionary(uniqueKeysWithValues: Problem.Kind.allCases.enumerated().map { ($1, $0) })
        // The order of polls and sinks is that of the configuration.
        return known.enumerated().sorted { (ranks[$0.element.kind]!, $0.offset) < (ranks[$1.element.kind]!, $1.offset) }
            .map(\.element)
    }

    /// The state of a degraded agent in one line, such as `Polling stopped: sink hook down for 13 min, outbox 80 %
    /// full`; `nil` if it is healthy.
    ///
    /// If no poll can run, the line gives the causes. Otherwise it gives the gravest problem and the number of others.
    package static func headline(_ problems: [Problem], _ facts: HealthFacts) -> String? {
        let causes = stops(problems, facts)
        if !causes.isEmpty { return "Polling stopped: " + causes.joined(separator: ", ") }
        guard let line = problems.first?.title else { return nil }
        switch problems.count - 1 {
        case 0: return line
        case 1: return line + "; 1 more problem"
        case let others: return line + "; \(others) more problems"
        }
    }

    /// The causes that keep every poll from running, with the sinks that fill the outbox; empty if a poll can run.
    private static func stops(_ problems: [Problem], _ facts: HealthFacts) -> [String] {
        func phrases(_ matches: (Problem) -> Bool) -> [String] { problems.filter(matches).map(\.phrase) }
        guard facts.canReadStore else { return phrases { $0.kind == .storeUnavailable } }
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

    private static func polls(_ facts: HealthFacts) -> [Problem] {
        facts.polls.flatMap { poll -> [Problem] in
            var problems: [Problem] = []
            func add(_ kind: Problem.Kind, _ phrase: String, since: Timestamp?) {
                problems.append(Problem(kind, of: poll.name, phrase, since: since))
            }
            if poll.isRefused {
                add(
                    .credentialsRefused,
                    "the server refuses the credentials of poll \(poll.name)",
                    since: poll.failingSince
                )
            }
            if poll.lacksToken { add(.noToken, "poll \(poll.name) has no token", since: poll.failingSince) }
            // While the server does not answer, that is the reason, and the polls pause.
            if poll.isFailing, facts.serverCircuit == .closed {
                let why = poll.failure.map { ": \($0.phrase)" } ?? ""
                add(.failing, "poll \(poll.name) fails" + why, since: poll.failingSince)
            }
            if poll.isStale { add(.stale, "poll \(poll.name) is stale", since: poll.staleSince) }
            if poll.lacksStars { add(.noStars, "poll \(poll.name) has no starred projects", since: poll.skippedSince) }
            return problems
        }
    }

    private static func server(_ facts: HealthFacts, now: Timestamp) -> [Problem] {
        var problems: [Problem] = []
        if facts.serverCircuit != .closed {
            problems.append(Problem(.serverUnreachable, "the server does not answer"))
        }
        if let until = heldUntil(facts) {
            let phrase = "the server asks to wait until \(until.clock(on: now))"
            problems.append(Problem(.held, phrase, since: facts.hold?.since, until: until))
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
            switch sink.condition {
            case .working: return nil
            case .down:
                let age = sink.downSince.map { " for \(AgeText.duration(max(0, (now - $0).inSeconds)))" } ?? ""
                return Problem(.sinkUnreachable, of: sink.name, "sink \(sink.name) down\(age)", since: sink.downSince)
            case .rejecting: return Problem(.sinkRejecting, of: sink.name, "sink \(sink.name) rejects everything")
            case .disabled: return Problem(.sinkDisabled, of: sink.name, "sink \(sink.name) disabled")
            }
        }
    }

    private static func outbox(_ outbox: HealthFacts.Outbox) -> [Problem] {
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
            problems.append(Problem(.backpressure, "outbox \(outbox.open * 100 / max(outbox.capacity, 1)) % full"))
        }
        if outbox.imbalance != 0 { problems.append(Problem(.ledgerImbalance, "the outbox counters are inconsistent")) }
        return problems
    }

    private static func agent(_ facts: HealthFacts) -> [Problem] {
        var problems: [Problem] = []
        if !facts.canReadStore || facts.isStoreFailing {
            problems.append(Problem(.storeUnavailable, "the database fails"))
        }
        if facts.isSignedOut { problems.append(Problem(.signedOut, "signed out")) }
        if facts.failedAcknowledgements >= HealthFacts.acknowledgementsFailAfter {
            problems.append(Problem(.acknowledgementsFailing, "acknowledgements fail"))
        }
        if facts.isReloadRefused { problems.append(Problem(.reloadRefused, "the changed configuration was refused")) }
        problems += facts.refusedPorts.map { port in
            Problem(.reloadRefused, of: port, "the changed web configuration of port \(port) was refused")
        }
        if facts.isSkewed { problems.append(Problem(.clockSkew, "the clock differs from the server's")) }
        return problems
    }

    /// An agent that ends again and again and is started again works in between, so nothing else shows it.
    private static func restarts(_ ends: [RunEnd], now: Timestamp) -> [Problem] {
        let ends = RunEndDecision.unasked(ends, within: HealthFacts.restartWindow, now: now)
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
