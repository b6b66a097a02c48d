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
    /// The facts about the poll; `nil` if no poll is the reason.
    package let poll: CoverageFacts.Poll?

    package init(_ reason: Reason, _ poll: CoverageFacts.Poll? = nil) { (self.reason, self.poll) = (reason, poll) }

    /// The next run of the poll, if it has not come to the change.
    package var nextRun: Timestamp? { reason == .notFetched ? poll?.nextRun : nil }

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
            The server sent it with faults, so it was set aside: item \(poll?.item.map(String.init) ?? "?") of starwatch \
            quarantine list.
            """
        case .otherDialect: "Its id has the form of the server's other dialect."
        case .notFetched: "The poll has not come to it yet." + lastRun
        case .beforeStart: "It was there before the poll's first run, which announces nothing (bootstrap: latest)."
        case .expired: "It is older than outbox.keep_delivered; its row was deleted, or there was none."
        case .replaced:
            "A later edition replaced it before the poll saw it, and the server shows only the last one"
                + (poll?.laterRow.map { ": row \($0)." } ?? ".")
        case .passed:
            "The poll has passed it without seeing it. Either " + others
                + "a later edition replaced it first, or the server did not show it in time." + leftOut
        case .fetched:
            "The poll has fetched everything up to then."
                + (poll?.lastRun?.sentence.map { " That run: \($0)" } ?? "") + leftOut
        }
    }

    private var others: String {
        poll?.isStarred == true ? "" : "it is \(poll?.kind.traits.leftOut ?? "not asked for"), or "
    }

    private var leftOut: String {
        poll?.askedPlans.map { " \(OwnClaims.sentence(asked: $0))" } ?? ""
    }

    private var lastRun: String { poll?.lastRun?.sentence.map { " Its last run: \($0)" } ?? "" }
}

/// The facts about a change that has no row, or about a time.
package struct CoverageFacts: Sendable {
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
        package var lastRun: RecentRun?
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
        return polls.map { Coverage(reason(of: $0, now), $0) }
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
