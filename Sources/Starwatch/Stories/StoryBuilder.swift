import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Makes stories from stored lives and the present state of the agent.
struct StoryBuilder: Sendable {
    let now: Timestamp
    /// The server's time minus the local time. Cycles are stored by the local clock.
    let serverAhead: Duration
    let finder: StoryFinder
    /// The reasons why sinks are not tried, by name.
    let pauses: [String: ChangeWait]
    let hasSinks: Bool
    let throttledUntil: Timestamp?

    func change(_ change: ChangeStory, otherRows: [Int64]) -> Story {
        let row = change.row
        var story = Story(.change, id: finder.pseudonym.hash(row.change.id), state: row.state.rawValue)
        story.poll = row.stream.poll.rawValue
        story.identity = finder.pseudonym.hash(row.stream.account)
        story.row = row.id
        story.runID = row.runID
        story.notificationID = change.notification?.id
        story.otherRows = otherRows.isEmpty ? nil : otherRows
        story.steps = steps(change)
        story.waits = facts(change).waits(at: now).map(Story.Wait.init)
        return story
    }

    func notification(_ notification: NotificationStory) -> Story {
        var story = Story(.notification, id: notification.id, state: notification.state.rawValue)
        story.poll = notification.stream.poll.rawValue
        story.identity = finder.pseudonym.hash(notification.stream.account)
        story.runID = notification.runID
        story.rows = rows(notification.rows)
        var life = LifeSteps(notification.history)
        life.add(notification, isWhole: true)
        if let time = notification.finishedAt {
            life.addLast(Story.Step.Kind(rawValue: notification.state.rawValue) ?? .delivered, time)
        }
        story.steps = TimedStep.ordered(life.steps, now: now)
        if notification.state == .open {
            var facts = ChangeWaitFacts(row: nil, state: .claimed)
            facts.isActive = notification.isActive
            facts.sinks = sinks(notification)
            facts.isRepetition = notification.repeats != nil
            story.waits = facts.waits(at: now).map(Story.Wait.init)
        }
        return story
    }

    /// - Parameters:
    ///   - recent: What is known of the run beside its changes.
    ///   - firstOpen: The run's first row that is not finished.
    func run(_ id: String, _ run: RunStory, recent: RecentRun?, firstOpen: ChangeStory?) -> Story {
        let end = run.cycle ?? recent
        var story = Story(.run, id: id, state: end?.outcome ?? "unknown")
        story.poll = run.stream?.poll.rawValue ?? recent?.poll
        story.identity = run.stream.map { finder.pseudonym.hash($0.account) }
        story.rows = rows(run.rows)
        story.notifications = run.notifications
        var steps = run.pages.map { TimedStep.page($0) }
        if let answer = recent?.answer {
            let known = steps.firstIndex { $0.step.requestID == answer.requestID }
            if known == nil, let end = recent?.finishedAt {
                steps.append(TimedStep(.fetched, Timestamp(milliseconds: end) + serverAhead) { $0.show(answer) })
            } else if let known {
                steps[known].step.show(answer)
            }
        }
        if let end {
            let (started, finished) = (Timestamp(milliseconds: end.startedAt), Timestamp(milliseconds: end.finishedAt))
            steps.append(TimedStep(.started, started + serverAhead))
            steps.append(
                TimedStep(.finished, finished + serverAhead) { step in
                    step.result = story.state
                    (step.reason, step.sentence, step.count) = (end.reason, end.sentence, end.new)
                    step.requests = recent?.requests
                    step.tookMilliseconds = (finished - started).wholeMilliseconds
                }
            )
        }
        story.steps = TimedStep.ordered(steps, now: now)
        if let firstOpen { story.waits = change(firstOpen, otherRows: []).waits }
        return story
    }

    /// A digest that has no notification yet.
    func digest(_ id: String, _ digest: ArmedDigest) -> Story {
        var story = Story(.digest, id: id, state: digest.status)
        story.poll = digest.digest
        story.identity = finder.pseudonym.hash(digest.account)
        story.steps = TimedStep.ordered(digest.contentAt.map { [TimedStep(.prepared, $0)] } ?? [], now: now)
        if digest.status == SlotStatus.scheduled.rawValue {
            story.waits = [Story.Wait(ChangeWait(.digest, until: digest.fireAt))]
        }
        return story
    }

    // MARK: - Parts

    /// The steps of a change: those of the states that it has left, and those of its present state.
    private func steps(_ change: ChangeStory) -> [Story.Step] {
        let (row, history) = (change.row, change.history)
        var life = LifeSteps(history)
        life.add(.changed, row.change.id.timestamp)
        life.add(pages: history.compactMap(\.page) + (change.page.map { [$0] } ?? []))
        var stored: Set<Timestamp> = []
        for time in history.compactMap(\.storedAt) + [row.createdAt] where stored.insert(time).inserted {
            life.add(.stored, time)
        }
        for (era, former) in history.enumerated() {
            let state = former.state.flatMap(OutboxState.init(rawValue:))
            if let time = former.endedAt, let kind = state.flatMap(Story.Step.Kind.init(_:)) {
                life.add(kind, time, era: era) { $0.end(sinks: former.sinks, reason: former.reason) }
            }
            // The row itself tells how it ended.
            let isTold = era == history.count - 1 && former.step.rawValue == row.state.rawValue
            if !isTold { life.add(.of(former), former.at, era: era) }
        }
        for notification in change.formerNotifications {
            let until = history.last { $0.notification == notification.id }?.at
            life.add(notification, isWhole: false, until: until)
        }
        if let notification = change.notification {
            // The notification goes on without a discarded change.
            life.add(notification, isWhole: false, until: row.state == .cancelled ? row.finishedAt : nil)
        }
        if let time = row.deliveredAt { life.addLast(.delivered, time) }
        if let time = row.acknowledgedAt { life.addLast(.acknowledged, time) { $0.requestID = change.ackRequestID } }
        if let time = row.finishedAt, let kind = Story.Step.Kind(row.state) {
            life.addLast(kind, time) { step in
                if let reason = row.reason {
                    step.reason = reason.rawValue
                    step.sentence = reason.sentence(announcedBy: row.announcedBy, discardedBy: row.discardedBy)
                } else if change.isBootstrap {
                    step.reason = "bootstrap"
                    step.sentence = "It was there before the poll's first run (bootstrap: latest)."
                } else if row.state == .dead {
                    let lost = change.notification?.deliveries.filter { DeliveryRule.lost.contains($0.state) } ?? []
                    step.end(sinks: lost.map(\.sink), reason: lost.compactMap(\.reason).first?.description)
                }
            }
        }
        if let time = change.watermark.passedAt { life.add(.watermark, time) }
        return TimedStep.ordered(life.steps, now: now)
    }

    private func rows(_ rows: [StoryRow]) -> [Story.Row] {
        rows.map { Story.Row(row: $0.id, id: finder.pseudonym.hash($0.change), state: $0.state) }
    }

    private func facts(_ change: ChangeStory) -> ChangeWaitFacts {
        let row = change.row
        var facts = ChangeWaitFacts(row: row.id, state: row.state)
        facts.isActive = change.isActive
        facts.hasSinks = hasSinks
        facts.grouping.oldestWaiting = change.due.oldestCreatedAt
        facts.grouping.lastNotified = change.due.lastNotifiedAt
        facts.grouping.wait = finder.options.delivery.groupWait
        let poll = finder.options.polls.first { $0.name == row.stream.poll }
        facts.grouping.interval = poll?.groupInterval ?? finder.options.delivery.groupInterval
        if let notification = change.notification { facts.sinks = sinks(notification) }
        facts.isAcknowledged = change.isBootstrap || row.acknowledgedAt != nil
        facts.batch = change.batch
        facts.throttledUntil = throttledUntil
        // Canaries come from the agent, so nothing was fetched up to them.
        facts.isPastWatermark = change.watermark.isPast || row.stream.poll == .canary
        facts.blockingRow = change.watermark.blockingRow
        facts.isBeyondCursor = change.watermark.isBeyondCursor
        return facts
    }

    private func sinks(_ notification: NotificationStory) -> [SinkStatus] {
        notification.deliveries.filter { $0.state == .pending }.map { delivery in
            var sink = delivery
            sink.pause = pauses[delivery.sink]
            return sink
        }
    }
}

extension Story.Step {
    /// Says what the server answered.
    fileprivate mutating func show(_ answer: RecentRun.Answer) {
        result = answer.status.map { "http_\($0)" } ?? "no_answer"
        tookMilliseconds = answer.tookMilliseconds
        (requestID, serverRequestID) = (answer.requestID, answer.serverRequestID)
    }

    /// Says which sinks did not get a dead change, and why.
    fileprivate mutating func end(sinks: [String], reason: String?) {
        sink = sinks.isEmpty ? nil : sinks.joined(separator: ", ")
        self.reason = reason
        sentence = reason.flatMap(RowReason.init(rawValue:))?.sentence()
    }
}
