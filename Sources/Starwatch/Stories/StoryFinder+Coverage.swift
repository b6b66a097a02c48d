import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

extension StoryFinder {
    /// Returns how the polls cover a claim that has no row. Lists have no claims: a change of one is its row.
    func absent(_ change: JWTID) async throws(StoreError) -> Story {
        var facts = CoverageFacts(time: change.timestamp, id: change, retention: options.outbox.keepDelivered)
        let items = try await store.quarantine.items(of: change)
        // The handle of a project, an offer or a gift ends with the id of its first edition.
        let end = "/" + change.rawValue
        let later = try await newestRows().filter {
            $0.change.plan.hasSuffix(end) && change.precedes($0.change.id) == true
        }
        let isStarred = try await account.identity.current().stars.contains { $0.hasSuffix(end) }
        facts = try await self.facts(facts, of: polls.filter { !$0.kind.isList }) { poll, stream in
            let isOfPlans = poll.kind.isOfPlans
            if isOfPlans, isStarred { poll.isStarred = true }
            poll.laterRow = later.first { $0.stream == stream && $0.change.isOffer != poll.kind.traits.hasPlans }?.id
            poll.item = items[stream]
        }
        return story(.absent, id: pseudonym.hash(change), facts)
    }

    /// Returns how far each poll had fetched at a time, and its last run before.
    func time(_ time: Timestamp) async throws(StoreError) -> Story {
        let facts = CoverageFacts(time: time, retention: options.outbox.keepDelivered)
        return story(.time, id: time.iso8601, try await self.facts(facts, of: polls))
    }

    /// The rows of a project, and whether it is polled; for the handle of an offer or a gift, or the id of a list's item, the life
    /// of its last edition. `nil` if nothing names the project, and it is no URL.
    func project(_ plan: String) async throws(StoreError) -> Story? {
        let rows = try await newestRows().filter { $0.change.plan == plan }
        let isStarred = try await account.identity.current().stars.contains(plan)
        guard isStarred || !rows.isEmpty || plan.contains("://") else { return nil }
        func isOfProject(_ row: OutboxRow) -> Bool { !row.change.isOffer && row.stream.server != StreamKey.lists }
        if !isStarred, let last = rows.first, !rows.contains(where: isOfProject) {
            guard let life = try await store.stories.change(last.id) else { return nil }
            let others = rows.dropFirst().filter { $0.change.id == last.change.id }
            return await stories().change(life, otherRows: others.map(\.id))
        }
        let facts = CoverageFacts(time: environment.clock.now, retention: options.outbox.keepDelivered)
        let coverage = try await self.facts(facts, of: polls.filter { !$0.kind.isList }) { poll, _ in
            if poll.isStarred != nil { poll.isStarred = isStarred }
        }
        var story = story(.project, id: "project", coverage)
        story.state = isStarred ? "starred" : "not_starred"
        story.rows = rows.prefix(100).map {
            Story.Row(row: $0.id, id: pseudonym.hash($0.change.id), state: $0.state)
        }
        return story
    }

    private func newestRows() async throws(StoreError) -> [OutboxRow] {
        var filter = OutboxFilter()
        (filter.limit, filter.isNewestFirst) = (OutboxEntry.listLimit, true)
        return try await store.outbox.list(filter)
    }

    private func story(_ kind: Story.Kind, id: String, _ facts: CoverageFacts) -> Story {
        let ahead = environment.clock.now - environment.time.now
        let coverage = facts.coverage(at: environment.clock.now).map { Story.Covered($0, ahead: ahead) }
        var story = Story(kind, id: id, state: coverage.first?.reason.rawValue ?? "unknown")
        story.coverage = coverage
        return story
    }

    /// Adds the facts about the account and its polls.
    private func facts(
        _ facts: CoverageFacts,
        of polls: [Poll],
        edit: (inout CoverageFacts.Poll, StreamKey) -> Void = { _, _ in }
    ) async throws(StoreError) -> CoverageFacts {
        var facts = facts
        let current = try await account.identity.current()
        guard let did = current.identity.did else {
            facts.isSignedOut = true
            return facts
        }
        let local = facts.time - (environment.clock.now - environment.time.now)
        for poll in polls {
            let stream = account.stream(of: poll, for: did)
            var entry = CoverageFacts.Poll(name: poll.name.rawValue, kind: poll.kind)
            let state = try await store.polls.state(stream, maxUndelivered: options.outbox.maxUndelivered)
            let memory = service.track(poll).memory
            (entry.cursor, entry.seenUntil) = (state.fetchCursor, memory.seenUntil(of: stream) ?? state.seenUntil)
            entry.isOptedOut = current.isOff(poll.options)
            entry.lacksStars = !current.hasStars(for: poll.kind)
            // Known to need stars; `edit` says whether the project is one of them.
            if poll.kind.needsStars, facts.id == nil { entry.isStarred = true }
            if poll.options.bootstrap == .latest {
                entry.startedAt = try await store.stories.startOfPoll(stream)
            }
            entry.askedPlans = memory.ownPlans.flatMap { $0.areCut ? $0.asked : nil }
            entry.nextRun = service.nextRun(poll) ?? state.nextRun
            entry.lastRun = try await lastRun(of: stream, by: facts.id == nil ? local : environment.time.now)
            edit(&entry, stream)
            facts.polls.append(entry)
        }
        return facts
    }
}

extension Story.Covered {
    /// - Parameter ahead: The server's time minus the local time, in which runs are stored.
    fileprivate init(_ coverage: Coverage, ahead: Duration) {
        let (poll, run) = (coverage.poll, coverage.poll?.lastRun)
        self.init(poll: poll?.name, reason: coverage.reason, sentence: coverage.sentence)
        fetchedUntil = poll?.cursor?.timestamp.iso8601
        nextRun = coverage.nextRun.map { ($0 + ahead).iso8601 }
        (runID, runOutcome) = (run?.runID, run?.outcome)
        runAt = run.map { (Timestamp(milliseconds: $0.finishedAt) + ahead).iso8601 }
        item = poll?.item
    }
}
