import StarwatchCore
import StarwatchStore

/// A step with what puts it in order.
struct TimedStep {
    let time: Timestamp
    /// The number of states that the change had left before: of steps in the same millisecond, those of an earlier state
    /// come first.
    let era: Int
    var step: Story.Step

    init(_ kind: Story.Step.Kind, _ time: Timestamp, era: Int = 0, _ edit: (inout Story.Step) -> Void = { _ in }) {
        self.time = time
        self.era = era
        step = Story.Step(kind, at: time.iso8601)
        edit(&step)
    }

    /// The steps in the order of time, then of a life, each with the time since the previous one.
    ///
    /// A time that is still to come is of a clock that was ahead, and tells no order. The steps are then in the order of a life.
    static func ordered(_ steps: [TimedStep], now: Timestamp) -> [Story.Step] {
        let latest = now + clockError
        let isAhead = steps.contains { $0.time > latest }
        let ranks = Story.Step.Kind.allCases
        func place(_ step: TimedStep) -> [Int] {
            let attempt = isAhead && step.step.step == .attempt ? step.step.attempt ?? 0 : 0
            return [step.era, ranks.firstIndex(of: step.step.step) ?? 0, attempt]
        }
        let sorted = steps.enumerated().sorted { left, right in
            let (before, after) = (place(left.element), place(right.element))
            if !isAhead, left.element.time != right.element.time { return left.element.time < right.element.time }
            return before == after ? left.offset < right.offset : before.lexicographicallyPrecedes(after)
        }
        var last: Timestamp?
        return sorted.map { _, timed in
            var step = timed.step
            step.clockAhead = timed.time > latest ? true : nil
            let isKnown = step.clockAhead == nil && last.map { $0 <= latest } ?? false
            step.afterMilliseconds = isKnown ? last.map { (timed.time - $0).wholeMilliseconds } : nil
            last = timed.time
            return step
        }
    }

    /// The time by which the clocks of two steps can differ without one of them being wrong.
    private static let clockError = Duration.seconds(60)
}

/// The steps of a life whose states were left and reached again.
struct LifeSteps {
    /// The states that the change or notification has left, the first one first.
    let history: [FormerState]
    var steps: [TimedStep] = []

    init(_ history: [FormerState]) { self.history = history }

    /// The number of states that were left before a time.
    private func era(of time: Timestamp, atLeast first: Int = 0) -> Int {
        max(first, history.count { $0.at < time })
    }

    mutating func add(
        _ kind: Story.Step.Kind,
        _ time: Timestamp,
        era first: Int = 0,
        _ edit: (inout Story.Step) -> Void = { _ in }
    ) {
        steps.append(TimedStep(kind, time, era: era(of: time, atLeast: first), edit))
    }

    /// A step of the present state.
    mutating func addLast(_ kind: Story.Step.Kind, _ time: Timestamp, _ edit: (inout Story.Step) -> Void = { _ in }) {
        add(kind, time, era: history.count, edit)
    }

    /// The requests that brought the change, each once.
    mutating func add(pages: [PageOrigin]) {
        var seen: Set<PageOrigin> = []
        for page in pages where seen.insert(page).inserted { steps.append(.page(page, era: era(of: page.answeredAt))) }
    }

    /// The claim, every answer of a sink, and the sinks that were given up.
    ///
    /// - Parameters:
    ///   - isWhole: Whether the ends of the notification itself belong to the life, too.
    ///   - until: The time at which the change left the notification; `nil` if it did not.
    mutating func add(_ notification: NotificationStory, isWhole: Bool, until: Timestamp? = nil) {
        let first = history.firstIndex { $0.notification == notification.id } ?? (isWhole ? 0 : history.count)
        add(.claimed, notification.createdAt, era: first) { $0.count = notification.rows.count }
        func isOwn(_ time: Timestamp) -> Bool { until.map { time <= $0 } ?? true }
        for attempt in notification.attempts where isOwn(attempt.finishedAt) {
            add(.attempt, attempt.finishedAt, era: first) { step in
                step.sink = attempt.sink
                step.attempt = attempt.number
                step.result = attempt.attempt.answer.rawValue
                step.reason = attempt.attempt.cause?.description
                step.sentence = attempt.attempt.reason
                step.tookMilliseconds = (attempt.finishedAt - attempt.attempt.startedAt).wholeMilliseconds
                step.nextAt = attempt.nextAttemptAt?.iso8601
            }
        }
        for sink in notification.deliveries where sink.state == .givenUp && isOwn(sink.updatedAt) {
            addGivenUp(sink.sink, sink.updatedAt, sink.reason?.description, era: first)
        }
        for former in notification.history where isOwn(former.at) {
            // The notification was made anew without a discarded change.
            if former.step == .renewed, former.at == until { continue }
            add(former, of: notification, first, isWhole)
        }
    }

    /// A state that a notification or its sink has left.
    private mutating func add(_ former: FormerState, of notification: NotificationStory, _ first: Int, _ isWhole: Bool)
    {
        if let sink = former.sinks.first {
            if former.state == DeliveryState.givenUp.rawValue, let time = former.endedAt {
                addGivenUp(sink, time, former.reason, era: first)
            }
        } else if isWhole, let time = former.endedAt, let kind = former.state.flatMap(Story.Step.Kind.init(rawValue:)) {
            add(kind, time, era: first)
        }
        let kind = Story.Step.Kind.of(former)
        // Of several sinks, and of a change and its notification, the step is one.
        guard !steps.contains(where: { $0.step.step == kind && $0.time == former.at }) else { return }
        add(kind, former.at, era: first)
    }

    private mutating func addGivenUp(_ sink: String, _ time: Timestamp, _ reason: String?, era first: Int) {
        add(.givenUp, time, era: first) { step in
            step.sink = sink
            step.reason = reason
            step.sentence = "The sink was down for too long."
        }
    }
}

extension TimedStep {
    static func page(_ page: PageOrigin, era: Int = 0) -> TimedStep {
        TimedStep(.fetched, page.answeredAt, era: era) { step in
            step.page = page.page
            step.attempt = page.tries
            step.tookMilliseconds = (page.answeredAt - page.askedAt).wholeMilliseconds
            step.requestID = page.request.id
            step.serverRequestID = page.request.serverID
        }
    }
}

extension Story.Step.Kind {
    /// The step by which a state was left, whose word is the same.
    static func of(_ former: FormerState) -> Story.Step.Kind { Self(rawValue: former.step.rawValue) ?? .returned }

    /// The step that ends in a state; `nil` for a state of a living row.
    init?(_ state: OutboxState) {
        switch state {
        case .pending, .claimed, .delivered, .acknowledged: return nil
        case .dead: self = .dead
        case .cancelled: self = .cancelled
        case .suppressed: self = .suppressed
        case .evicted: self = .evicted
        }
    }
}
