import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Makes stories from stored lives and the present state of the agent.
struct StoryBuilder: Sendable {
    let now: Timestamp
    /// The server's time minus the local time. Cycles are stored by the local clock.
    let serverAhead: Duration
    let pseudonym: IdentityHash
    let changeHash: ChangeHash
    /// The reasons why sinks are not tried, by name.
    let pauses: [String: SinkPause]
    let hasSinks: Bool
    let throttledUntil: Timestamp?
    let options: AgentOptions

    func change(_ change: ChangeStory, otherRows: [Int64]) -> Story {
        let row = change.row
        var story = Story(.change, id: changeHash.hash(row.change.id), state: row.state.rawValue)
        story.poll = row.stream.poll.rawValue
        story.identity = pseudonym.hash(row.stream.account)
        story.row = row.id
        story.runID = row.runID
        story.notificationID = change.notification?.id
        story.otherRows = otherRows.isEmpty ? nil : otherRows
        var steps = [TimedStep(.changed, row.change.id.timestamp)]
        if let page = change.page { steps.append(Self.step(page)) }
        steps.append(TimedStep(.stored, row.createdAt))
        if let notification = change.notification { steps += Self.steps(notification) }
        if let time = row.deliveredAt { steps.append(TimedStep(.delivered, time)) }
        if let time = row.acknowledgedAt {
            steps.append(TimedStep(.acknowledged, time) { $0.requestID = change.ackRequestID })
        }
        if let time = row.finishedAt, let kind = Self.ending(row.state) {
            steps.append(
                TimedStep(kind, time) {
                    $0.reason = row.reason?.sentence(announcedBy: row.announcedBy, discardedBy: row.discardedBy)
                }
            )
        }
        if let time = change.watermark.passedAt { steps.append(TimedStep(.watermark, time)) }
        story.steps = TimedStep.ordered(steps)
        story.waits = facts(change).waits(at: now).map(Story.Wait.init)
        return story
    }

    func notification(_ notification: NotificationStory) -> Story {
        var story = Story(.notification, id: notification.id, state: notification.state.rawValue)
        story.poll = notification.stream.poll.rawValue
        story.identity = pseudonym.hash(notification.stream.account)
        story.runID = notification.runID
        story.rows = rows(notification.rows)
        var steps = Self.steps(notification)
        if let time = notification.finishedAt {
            let kind: Story.Step.Kind =
                switch notification.state {
                case .open, .delivered: .delivered
                case .dead: .dead
                case .cancelled: .cancelled
                case .released: .released
                }
            steps.append(TimedStep(kind, time))
        }
        story.steps = TimedStep.ordered(steps)
        if notification.state == .open {
            var facts = ChangeWaitFacts(row: nil, state: .claimed)
            facts.isActive = notification.isActive
            facts.sinks = sinks(notification)
            facts.isRepetition = notification.repeats != nil
            story.waits = facts.waits(at: now).map(Story.Wait.init)
        }
        return story
    }

    /// - Parameter firstOpen: The run's first row that is not finished.
    func run(_ id: String, _ run: RunStory, firstOpen: ChangeStory?) -> Story {
        var story = Story(.run, id: id, state: run.cycle?.outcome.rawValue ?? "unknown")
        story.poll = run.stream?.poll.rawValue
        story.identity = run.stream.map { pseudonym.hash($0.account) }
        story.rows = rows(run.rows)
        story.notifications = run.notifications
        var steps = run.pages.map(Self.step)
        if let cycle = run.cycle {
            steps.append(TimedStep(.started, cycle.startedAt + serverAhead))
            steps.append(
                TimedStep(.finished, cycle.finishedAt + serverAhead) { step in
                    step.result = cycle.outcome.rawValue
                    step.reason = cycle.reason.map { FailureReason($0)?.sentence ?? $0 }
                    step.count = cycle.newRows
                    step.tookMilliseconds = (cycle.finishedAt - cycle.startedAt).wholeMilliseconds
                }
            )
        }
        story.steps = TimedStep.ordered(steps)
        if let firstOpen { story.waits = change(firstOpen, otherRows: []).waits }
        return story
    }

    /// A digest that has no notification yet.
    static func digest(_ id: String, _ digest: ArmedDigest, _ pseudonym: IdentityHash) -> Story {
        var story = Story(.digest, id: id, state: digest.status)
        story.poll = digest.digest
        story.identity = pseudonym.hash(digest.account)
        story.steps = TimedStep.ordered(digest.contentAt.map { [TimedStep(.prepared, $0)] } ?? [])
        if digest.status == SlotStatus.scheduled.rawValue {
            story.waits = [Story.Wait(ChangeWait(.digest, until: digest.fireAt))]
        }
        return story
    }

    // MARK: - Parts

    private func rows(_ rows: [StoryRow]) -> [Story.Row] {
        rows.map { Story.Row(row: $0.id, id: changeHash.hash($0.change), state: $0.state) }
    }

    private func facts(_ change: ChangeStory) -> ChangeWaitFacts {
        let row = change.row
        var facts = ChangeWaitFacts(row: row.id, state: row.state)
        facts.isActive = change.isActive
        facts.hasSinks = hasSinks
        facts.grouping.oldestWaiting = change.due.oldestCreatedAt
        facts.grouping.lastNotified = change.due.lastNotifiedAt
        facts.grouping.wait = options.delivery.groupWait
        let poll = options.polls.first { $0.name == row.stream.poll }
        facts.grouping.interval = poll?.groupInterval ?? options.delivery.groupInterval
        if let notification = change.notification { facts.sinks = sinks(notification) }
        facts.isAcknowledged = change.isBootstrap || row.acknowledgedAt != nil
        facts.batch = change.batch
        facts.throttledUntil = throttledUntil
        facts.isPastWatermark = change.watermark.isPast
        facts.blockingRow = change.watermark.blockingRow
        facts.isBeyondCursor = change.watermark.isBeyondCursor
        return facts
    }

    private func sinks(_ notification: NotificationStory) -> [ChangeWaitFacts.Sink] {
        notification.deliveries.filter { $0.state == .pending }.map { delivery in
            var sink = ChangeWaitFacts.Sink(name: delivery.sink, nextAttemptAt: delivery.nextAttemptAt)
            sink.leasedUntil = notification.leases[delivery.sink]
            sink.attempts = delivery.attempts
            sink.rejections = delivery.rejections
            sink.pause = pauses[delivery.sink]
            return sink
        }
    }

    private static func step(_ page: PageOrigin) -> TimedStep {
        TimedStep(.fetched, page.answeredAt) { step in
            step.page = page.page
            step.attempt = page.tries
            step.tookMilliseconds = (page.answeredAt - page.askedAt).wholeMilliseconds
            step.requestID = page.request.id
            step.serverRequestID = page.request.serverID
        }
    }

    /// The claim and every answer of a sink.
    private static func steps(_ notification: NotificationStory) -> [TimedStep] {
        var steps = [TimedStep(.claimed, notification.createdAt) { $0.count = notification.rows.count }]
        for attempt in notification.attempts {
            steps.append(
                TimedStep(.attempt, attempt.finishedAt) { step in
                    step.sink = attempt.sink
                    step.attempt = attempt.number
                    step.result = attempt.attempt.answer.rawValue
                    step.reason = attempt.attempt.reason
                    step.tookMilliseconds = (attempt.finishedAt - attempt.attempt.startedAt).wholeMilliseconds
                    step.nextAt = attempt.nextAttemptAt?.iso8601
                }
            )
        }
        return steps
    }

    private static func ending(_ state: OutboxState) -> Story.Step.Kind? {
        switch state {
        case .pending, .claimed, .delivered, .acknowledged: nil
        case .dead: .dead
        case .cancelled: .cancelled
        case .suppressed: .suppressed
        case .evicted: .evicted
        }
    }
}

/// A step with its time, for sorting.
private struct TimedStep {
    let time: Timestamp
    var step: Story.Step

    init(_ kind: Story.Step.Kind, _ time: Timestamp, _ edit: (inout Story.Step) -> Void = { _ in }) {
        self.time = time
        step = Story.Step(kind, at: time.iso8601)
        edit(&step)
    }

    /// The steps in the order of time, then of a life, each with the time since the previous one.
    static func ordered(_ steps: [TimedStep]) -> [Story.Step] {
        let ranks = Story.Step.Kind.allCases
        func rank(_ step: TimedStep) -> Int { ranks.firstIndex(of: step.step.step) ?? 0 }
        let sorted = steps.enumerated().sorted { left, right in
            (left.element.time, rank(left.element), left.offset) < (
                right.element.time, rank(right.element), right.offset
            )
        }.map(\.element)
        var last: Timestamp?
        return sorted.map { timed in
            var step = timed.step
            step.afterMilliseconds = last.map { (timed.time - $0).wholeMilliseconds }
            last = timed.time
            return step
        }
    }
}
