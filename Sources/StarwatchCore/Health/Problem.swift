/// A thing that is wrong. The status, its headline, the page, the commands, the metrics and the log show the same list of
/// them.
package struct Problem: Sendable, Hashable {
    package let kind: Kind
    /// The poll, sink, port or owner of a certificate that it is about; `nil` for the whole agent.
    package let subject: String?
    /// A phrase that says what is wrong: `sink hook down for 13 min`.
    package let phrase: String
    /// Details that the phrase leaves out, as sentences; `nil` if it says all.
    package var detail: String?
    /// The reason, a word from a closed set; `nil` if there is none to tell.
    package var reason: String?
    /// The start by the local clock; `nil` if it is not known.
    package var since: Timestamp?
    /// The time at which it ends by itself; `nil` if it is not known.
    package var until: Timestamp?

    package init(
        _ kind: Kind,
        of subject: String? = nil,
        _ phrase: String,
        reason: String? = nil,
        since: Timestamp? = nil,
        until: Timestamp? = nil
    ) {
        (self.kind, self.subject, self.phrase, self.reason) = (kind, subject, phrase, reason)
        (self.since, self.until) = (since, until)
    }

    /// The word in the status, with its subject after a colon: `stale:starred_projects`.
    package var word: String { kind.rawValue + (subject.map { ":\($0)" } ?? "") }

    /// The subject as a poll, a sink or a port. A certificate has that of its owner.
    package var place: (poll: String?, sink: String?, port: String?) {
        switch (kind.topic, subject.map(CertificateOwner.init(word:))) {
        case (.agent, _), (.certificate, .server), (.certificate, nil): (nil, nil, nil)
        case (.poll, _): (subject, nil, nil)
        case (.sink, _): (nil, subject, nil)
        case (.port, _): (nil, nil, subject)
        case (.certificate, .port(let name)): (nil, nil, name)
        case (.certificate, .sink(let name)): (nil, name, nil)
        }
    }

    /// ``phrase`` as the beginning of a sentence.
    package var title: String { phrase.prefix(1).uppercased() + phrase.dropFirst() }

    /// The next command; `nil` if there is nothing to run.
    package var command: String? {
        if kind == .signedOut, reason == Self.noActiveAccounts.reason { return "starwatch accounts add DID" }
        guard kind == .reloadRefused else { return kind.command(subject ?? "") }
        return switch reason.flatMap(RefusedReload.Remedy.init) {
        // The configuration is good, so a check of it would find nothing.
        case .restart: "systemctl restart starwatch"
        case .restartOfHost: nil
        case .correction, nil: kind.command(subject ?? "")
        }
    }

    /// The reason of backpressure that the hours of a sink cause.
    static let quietHours = "quiet_hours"

    /// An agent for many accounts has none to work for.
    static let noActiveAccounts = Problem(.signedOut, "there are no active accounts", reason: "no_accounts")

    /// The cause of a poll's staleness among the present problems, the gravest first; `nil` if none explains it.
    package static func cause(ofStale poll: PollName, among problems: [Problem]) -> Problem? {
        problems.first { $0.group.stops(poll.rawValue) }
    }

    /// The gravity, by the words that the alerts use.
    package enum Severity: String, Sendable, CaseIterable {
        /// Nothing works until somebody acts, or data is at risk.
        case critical
        /// Changes are late, or will be.
        case warning
        /// Nothing is late yet.
        case info
    }
}

/// The problems that exist, with the time at which each was first seen.
package struct ProblemHistory: Sendable {
    private var known: [Problem] = []

    package init() {}

    /// The problems with their starts: one without gets the time at which it was first seen. Remembers nothing.
    package func dated(_ problems: [Problem], now: Timestamp) -> [Problem] {
        problems.map { problem in
            var problem = problem
            let first = known.first { $0.word == problem.word }?.since
            problem.since = min(problem.since ?? first ?? now, now)
            return problem
        }
    }

    /// Takes the problems that a look has found. One without a start gets the time at which it was first seen.
    ///
    /// - Parameter isComplete: `false` if others can exist that could not be looked for. Then none ends.
    /// - Returns: The same problems with their starts, and what has begun and ended since the last call.
    package mutating func follow(
        _ problems: [Problem],
        isComplete: Bool = true,
        now: Timestamp
    ) -> (dated: [Problem], began: [Problem], ended: [Problem]) {
        let dated = dated(problems, now: now)
        let (former, words) = (Set(known.map(\.word)), Set(dated.map(\.word)))
        let gone = known.filter { !words.contains($0.word) }
        known = isComplete ? dated : dated + gone
        return (dated, dated.filter { !former.contains($0.word) }, isComplete ? gone : [])
    }
}
