/// Decides whether an agent is healthy, and says the most important thing in one line.
package enum HealthDecision {
    /// The reasons why the agent is degraded, sorted; empty if it is healthy.
    package static func reasons(_ facts: HealthFacts) -> [String] {
        let outbox = facts.outbox
        var reasons: [String] = []
        func add(_ reason: StatusReason, if condition: Bool) {
            if condition { reasons.append(reason.rawValue) }
        }
        func add(_ reason: StatusReason, of names: [String]) { reasons += names.map(reason.of) }
        func polls(_ condition: KeyPath<HealthFacts.Poll, Bool>) -> [String] {
            facts.polls.filter { $0[keyPath: condition] }.map(\.name)
        }
        func sinks(_ condition: SinkCondition) -> [String] {
            facts.sinks.filter { $0.condition == condition }.map(\.name)
        }
        add(.storeUnavailable, if: !facts.canReadStore || facts.isStoreFailing)
        add(.signedOut, if: facts.isSignedOut)
        add(.credentialsRefused, of: polls(\.isRefused))
        add(.noToken, of: polls(\.lacksToken))
        add(.circuitOpen, of: (facts.serverCircuit == .closed ? [] : ["server"]) + sinks(.down))
        add(.held, of: heldUntil(facts) == nil ? [] : ["server"])
        add(.failing, of: failing(facts).map(\.name))
        add(.stale, of: polls(\.isStale))
        add(.acknowledgementsFailing, if: doAcknowledgementsFail(facts))
        add(.deadLetters, if: outbox.dead + outbox.undelivered > 0)
        add(.quarantined, if: outbox.quarantined > 0)
        add(.sinkDisabled, of: sinks(.disabled))
        add(.sinkRejecting, of: sinks(.rejecting))
        add(.backpressure, if: outbox.isUnderPressure)
        add(.reloadRefused, if: facts.isReloadRefused)
        add(.reloadRefused, of: facts.refusedPorts)
        add(.noStars, of: polls(\.lacksStars))
        add(.clockSkew, if: facts.isSkewed)
        add(.ledgerImbalance, if: outbox.imbalance != 0)
        return reasons.sorted()
    }

    /// The state of a degraded agent in one line, such as `Polling stopped: sink hook down for 13 min, outbox 80 %
    /// full`; `nil` if it is healthy.
    ///
    /// If no poll can run, the line gives the causes. Otherwise it gives the gravest problem and the number of others.
    package static func headline(_ facts: HealthFacts, now: Timestamp) -> String? {
        let causes = stops(facts, now: now)
        if !causes.isEmpty { return "Polling stopped: " + causes.joined(separator: ", ") }
        let problems = problems(facts, now: now)
        guard let first = problems.first else { return nil }
        let line = first.prefix(1).uppercased() + first.dropFirst()
        switch problems.count - 1 {
        case 0: return line
        case 1: return line + "; 1 more problem"
        case let others: return line + "; \(others) more problems"
        }
    }

    /// The causes that keep every poll from running, with the sinks that fill the outbox; empty if a poll can run.
    private static func stops(_ facts: HealthFacts, now: Timestamp) -> [String] {
        guard facts.canReadStore else { return ["the database fails"] }
        if facts.isSignedOut { return facts.polls.isEmpty ? [] : ["signed out"] }
        guard !facts.polls.isEmpty else { return [] }
        var causes: [String] = []
        if facts.outbox.isUnderPressure { causes += sinks(facts, now: now) + [fill(facts.outbox)] }
        if facts.serverCircuit != .closed { causes.append("the server does not answer") }
        if let until = heldUntil(facts) { causes.append("the server asks to wait until \(until.clock(on: now))") }
        guard causes.isEmpty else { return causes }
        guard facts.polls.allSatisfy({ $0.lacksToken || $0.lacksStars }) else { return [] }
        if facts.polls.contains(where: \.lacksToken) { causes.append("no token") }
        if facts.polls.contains(where: \.lacksStars) { causes.append("no starred projects") }
        return causes
    }

    /// Every problem as a phrase, the gravest first.
    private static func problems(_ facts: HealthFacts, now: Timestamp) -> [String] {
        var problems: [String] = []
        if facts.isStoreFailing { problems.append("the database fails") }
        if facts.isSignedOut { problems.append("signed out") }
        func add(_ phrase: (String) -> String, _ condition: KeyPath<HealthFacts.Poll, Bool>) {
            problems += facts.polls.filter { $0[keyPath: condition] }.map { phrase($0.name) }
        }
        add({ "the server refuses the credentials of poll \($0)" }, \.isRefused)
        add({ "poll \($0) has no token" }, \.lacksToken)
        // A server that does not answer stops every poll. It is a problem by itself only if there are no polls.
        if facts.serverCircuit != .closed { problems.append("the server does not answer") }
        problems += failing(facts).map { poll in
            "poll \(poll.name) fails" + (poll.failure.map { ": \($0.phrase)" } ?? "")
        }
        problems += sinks(facts, now: now)
        add({ "poll \($0) is stale" }, \.isStale)
        if doAcknowledgementsFail(facts) { problems.append("acknowledgements fail") }
        let outbox = facts.outbox
        let letters = outbox.dead + outbox.undelivered
        if letters > 0 { problems.append(letters == 1 ? "1 dead letter" : "\(letters) dead letters") }
        if outbox.quarantined > 0 {
            problems.append(outbox.quarantined == 1 ? "1 invalid item" : "\(outbox.quarantined) invalid items")
        }
        if outbox.isUnderPressure { problems.append(fill(outbox)) }
        if facts.isReloadRefused { problems.append("the changed configuration was refused") }
        problems += facts.refusedPorts.map { "the changed web configuration of port \($0) was refused" }
        add({ "poll \($0) has no starred projects" }, \.lacksStars)
        if facts.isSkewed { problems.append("the clock differs from the server's") }
        if outbox.imbalance != 0 { problems.append("the outbox counters are inconsistent") }
        return problems
    }

    /// The sinks that do not accept notifications.
    private static func sinks(_ facts: HealthFacts, now: Timestamp) -> [String] {
        facts.sinks.compactMap { sink in
            switch sink.condition {
            case .working: nil
            case .down:
                "sink \(sink.name) down"
                    + (sink.downSince.map { " for \(AgeText.duration(max(0, (now - $0).inSeconds)))" } ?? "")
            case .rejecting: "sink \(sink.name) rejects everything"
            case .disabled: "sink \(sink.name) disabled"
            }
        }
    }

    /// The polls whose cycles fail. While the server does not answer, that is the reason, and the polls pause.
    private static func failing(_ facts: HealthFacts) -> [HealthFacts.Poll] {
        facts.serverCircuit == .closed ? facts.polls.filter(\.isFailing) : []
    }

    /// The end of the server's wait, if it is longer than the time between two runs of a poll. After refused credentials
    /// the wait is our own.
    private static func heldUntil(_ facts: HealthFacts) -> Timestamp? {
        guard let hold = facts.hold, let until = hold.until, let since = hold.since,
            let interval = facts.polls.compactMap(\.interval).min(), !facts.polls.contains(where: \.isRefused)
        else { return nil }
        return until - since > interval ? until : nil
    }

    private static func doAcknowledgementsFail(_ facts: HealthFacts) -> Bool {
        facts.failedAcknowledgements >= HealthFacts.acknowledgementsFailAfter
    }

    private static func fill(_ outbox: HealthFacts.Outbox) -> String {
        "outbox \(outbox.open * 100 / max(outbox.capacity, 1)) % full"
    }
}
