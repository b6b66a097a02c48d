/// The reason why a poll has no row of a change.
package struct Coverage: Sendable, Hashable {
    package enum Reason: String, Sendable, CaseIterable, Codable {
        case noPoll = "no_poll"
        case signedOut = "signed_out"
        case optedOut = "opted_out"
        case noStars = "no_stars"
        case notStarred = "not_starred"
        case quarantined
        case otherDialect = "other_dialect"
        case notFetched = "not_fetched"
        case beforeStart = "before_start"
        case expired
        case replaced
        case passed
        case fetched
    }

    package let reason: Reason
    /// The poll; `nil` if no poll is the reason.
    package var poll: String?
    /// The run that failed, was skipped or covered it last.
    package var run: CoverageFacts.Run?
    /// The quarantined item.
    package var item: Int64?
    /// The next run of the poll, if it has not come to the change.
    package var nextRun: Timestamp?
    /// The time up to which the poll has fetched everything.
    package var cursor: Timestamp?
    /// The subject of the poll's requests; `nil` if it is not known.
    package var kind: PollKind?
    /// Whether the change is certainly of a starred project.
    package var isStarred = false
    /// The number of own projects that the poll asks for, if the account has more; `nil` otherwise.
    package var askedPlans: Int?
    /// The outbox row of the edition that replaced it; `nil` if there is none.
    package var laterRow: Int64?

    package init(_ reason: Reason, poll: String? = nil) { (self.reason, self.poll) = (reason, poll) }

    /// One sentence or two for a person, without times.
    package var sentence: String {
        switch reason {
        case .noPoll: "No poll is configured, so nothing asks for it."
        case .signedOut: "No identity is signed in, so nothing is polled."
        case .optedOut:
            """
            The poll is off: by polls.NAME.enabled in the configuration, because the account opted out of its kind, which \
            starwatch identity opt-in KIND ends, or, of many accounts, because it was added with other polls.
            """
        case .noStars: "The account has no stars, so the poll asks for nothing."
        case .notStarred: "No star has this id, so the poll does not ask for it; starwatch stars list shows the stars."
        case .quarantined:
            """
            The server sent it with faults, so it was set aside: item \(item.map(String.init) ?? "?") of starwatch \
            quarantine list.
            """
        case .otherDialect: "Its id has the form of the server's other dialect."
        case .notFetched: "The poll has not come to it yet." + lastRun
        case .beforeStart: "It was there before the poll's first run, which announces nothing (bootstrap: latest)."
        case .expired: "It is older than outbox.keep_delivered; its row was deleted, or there was none."
        case .replaced:
            "A later edition replaced it before the poll saw it, and the server shows only the last one"
                + (laterRow.map { ": row \($0)." } ?? ".")
        case .passed:
            "The poll has passed it without seeing it. Either "
                + (isStarred ? "" : "it is \(kind.map(Self.others(than:)) ?? "not asked for"), or ")
                + "a later edition replaced it first, or the server did not show it in time." + leftOut
        case .fetched:
            "The poll has fetched everything up to then." + (run?.problem.map { " That run: \($0)" } ?? "") + leftOut
        }
    }

    /// The changes that a poll does not ask for.
    private static func others(than kind: PollKind) -> String {
        switch kind {
        case .starredProjects: "of a project without a star"
        case .offersToMe: "no offer to the account"
        case .offersToMyProjects: "no offer to a project of the account"
        case .offersToStarred: "no offer to a starred project"
        case .givesToMe: "no gift to the account"
        case .givesToMyProjects: "no gift to a project of the account"
        case .givesToStarred: "no gift to a starred project"
        }
    }

    private var leftOut: String {
        askedPlans.map { " \(OwnPlans.sentence(asked: $0))" } ?? ""
    }

    private var lastRun: String { run?.problem.map { " Its last run: \($0)" } ?? "" }
}

/// The facts about a change that has no row, or about a time.
package struct CoverageFacts: Sendable {
    /// A run of a poll.
    package struct Run: Sendable, Hashable {
        package let id: String
        package let outcome: String
        package let finishedAt: Timestamp
        /// The reason why it failed, was deferred or skipped, as one sentence.
        package var problem: String?

        package init(id: String, outcome: String, finishedAt: Timestamp, problem: String? = nil) {
            (self.id, self.outcome, self.finishedAt, self.problem) = (id, outcome, finishedAt, problem)
        }
    }

    package struct Poll: Sendable, Hashable {
        package var name: String
        package var kind: PollKind
        package var isOptedOut = false
        package var lacksStars = false
        /// Whether the change's project is among the stars; `nil` if that is not known, or the poll needs no stars.
        package var isStarred: Bool?
        /// The quarantined item of the change.
        package var item: Int64?
        /// The end of the completely fetched range.
        package var cursor: JWTID?
        /// The server's time up to which the poll has seen every change.
        package var seenUntil: Timestamp?
        /// The end of the first run that announced nothing, by the server's clock; `nil` if the poll begins with all changes.
        package var startedAt: Timestamp?
        package var lastRun: Run?
        package var nextRun: Timestamp?
        /// The number of own projects that the poll asks for, if the account has more; `nil` otherwise.
        package var askedPlans: Int?
        /// The outbox row of a later edition of the change; `nil` if none is known.
        package var laterRow: Int64?

        package init(name: String, kind: PollKind) { (self.name, self.kind) = (name, kind) }
    }

    /// The time of the change.
    package var time: Timestamp
    /// Its identifier; `nil` for a time.
    package var id: JWTID?
    package var isSignedOut = false
    package var polls: [Poll] = []
    /// The period after which the rows of finished changes are deleted.
    package var retention: Duration

    package init(time: Timestamp, id: JWTID? = nil, retention: Duration) {
        (self.time, self.id, self.retention) = (time, id, retention)
    }

    /// The reason of each poll, in the order of the polls.
    package func coverage(at now: Timestamp) -> [Coverage] {
        if isSignedOut { return [Coverage(.signedOut)] }
        if polls.isEmpty { return [Coverage(.noPoll)] }
        return polls.map { poll in
            var coverage = Coverage(reason(of: poll, now), poll: poll.name)
            coverage.run = poll.lastRun
            coverage.item = poll.item
            coverage.cursor = poll.cursor?.timestamp
            (coverage.kind, coverage.isStarred) = (poll.kind, poll.isStarred == true)
            (coverage.askedPlans, coverage.laterRow) = (poll.askedPlans, poll.laterRow)
            if coverage.reason == .notFetched { coverage.nextRun = poll.nextRun }
            return coverage
        }
    }

    private func reason(of poll: Poll, _ now: Timestamp) -> Coverage.Reason {
        if poll.item != nil { return .quarantined }
        if poll.isOptedOut { return .optedOut }
        if poll.lacksStars { return .noStars }
        if poll.isStarred == false { return .notStarred }
        let hasSeen = poll.seenUntil.map { $0 >= time } ?? false
        guard let id else {
            let hasPassed = poll.cursor.map { $0.timestamp >= time } ?? false
            return hasSeen || hasPassed ? .fetched : .notFetched
        }
        guard let cursor = poll.cursor else { return .notFetched }
        guard let isAhead = cursor.precedes(id) else { return .otherDialect }
        if isAhead, !hasSeen { return .notFetched }
        if let start = poll.startedAt, time < start { return .beforeStart }
        if now - time > retention { return .expired }
        return poll.laterRow == nil ? .passed : .replaced
    }
}
