/// The facts that decide what a change waits for.
package struct ChangeWaitFacts: Sendable {
    /// The stream's open batch of acknowledgements.
    package struct Batch: Sendable, Hashable {
        /// Whether the change is in it.
        package let isOwn: Bool
        package let attempts: Int
        package let nextAttemptAt: Timestamp

        package init(isOwn: Bool, attempts: Int, nextAttemptAt: Timestamp) {
            (self.isOwn, self.attempts, self.nextAttemptAt) = (isOwn, attempts, nextAttemptAt)
        }
    }

    package var row: Int64?
    package var state: OutboxState
    /// Whether the change's account is the active identity.
    package var isActive = true
    /// Whether any sink takes notifications.
    package var hasSinks = true
    /// The grouping of its stream.
    package var grouping: (oldestWaiting: Timestamp?, lastNotified: Timestamp?, wait: Duration, interval: Duration) = (
        nil, nil, .zero, .zero
    )
    /// The sinks that have not finished the notification.
    package var sinks: [SinkStatus] = []
    /// Whether the notification repeats another one after a snooze.
    package var isRepetition = false
    /// Whether the change will be acknowledged. Bootstrapped rows never are.
    package var isAcknowledged = false
    package var batch: Batch?
    /// End of the server's or the agent's rate limit.
    package var throttledUntil: Timestamp?
    package var isPastWatermark = true
    /// The first open row below the change.
    package var blockingRow: Int64?
    /// Whether the poll has not fetched everything up to the change.
    package var isBeyondCursor = false

    package init(row: Int64?, state: OutboxState) {
        self.row = row
        self.state = state
    }

    /// The reasons why the change is not finished; empty if it is.
    package func waits(at now: Timestamp) -> [ChangeWait] {
        switch state {
        case .pending: isActive ? [pending(at: now)] : [ChangeWait(.identity)]
        case .claimed: isActive ? deliveries(at: now) : [ChangeWait(.identity)]
        case .delivered: isActive ? [acknowledgement(at: now)] + optionalDeliveries(at: now) : [ChangeWait(.identity)]
        case .suppressed where !isAcknowledged && isActive: [acknowledgement(at: now)]
        case .evicted: [ChangeWait(.room)]
        case .dead: [ChangeWait(.retry, row: row)] + watermark
        case .acknowledged: optionalDeliveries(at: now) + watermark
        case .cancelled, .suppressed: watermark
        }
    }

    /// The waits of the optional sinks, for which a delivered change does not wait.
    private func optionalDeliveries(at now: Timestamp) -> [ChangeWait] {
        isActive && !sinks.isEmpty ? deliveries(at: now) : []
    }

    private func pending(at now: Timestamp) -> ChangeWait {
        guard hasSinks else { return ChangeWait(.sinks) }
        let decision = GroupingDecision.decide(
            now: now,
            oldestWaiting: grouping.oldestWaiting,
            lastNotified: grouping.lastNotified,
            groupWait: grouping.wait,
            groupInterval: grouping.interval
        )
        guard case .wait(let until) = decision else { return ChangeWait(.dispatch) }
        let isFirst = grouping.oldestWaiting.map { $0 + grouping.wait >= until } ?? false
        return ChangeWait(isFirst ? .groupWait : .groupInterval, until: until)
    }

    /// The waits of every sink that has not finished the notification.
    package func deliveries(at now: Timestamp) -> [ChangeWait] {
        guard !sinks.isEmpty else { return [ChangeWait(.dispatch)] }
        return sinks.map { sink in
            if let lease = sink.leasedUntil, lease > now { return ChangeWait(.attempt, until: lease, sink: sink.sink) }
            let until = max(sink.nextAttemptAt, sink.pause?.until ?? sink.nextAttemptAt)
            guard until > now else { return ChangeWait(.dispatch, sink: sink.sink) }
            if sink.isHeld, sink.nextAttemptAt == until {
                return ChangeWait(.sinkHours, until: until, sink: sink.sink)
            }
            let isSnoozed = sink.attempts == 0 && isRepetition
            let reason = isSnoozed ? ChangeWait.Reason.snooze : sink.rejections > 0 ? .rejected : .sinkBackoff
            return ChangeWait(sink.pause?.reason ?? reason, until: until, sink: sink.sink)
        }
    }

    private func acknowledgement(at now: Timestamp) -> ChangeWait {
        if let throttledUntil, throttledUntil > now { return ChangeWait(.rateLimit, until: throttledUntil) }
        guard let batch else { return ChangeWait(.acknowledgement) }
        let until = batch.nextAttemptAt > now ? batch.nextAttemptAt : nil
        guard batch.isOwn else { return ChangeWait(.ackQueue, until: until) }
        return batch.attempts > 0 ? ChangeWait(.ackRetry, until: until) : ChangeWait(.acknowledgement, until: until)
    }

    private var watermark: [ChangeWait] {
        if isPastWatermark { return [] }
        if let blockingRow { return [ChangeWait(.watermarkRow, row: blockingRow)] }
        return [ChangeWait(isBeyondCursor ? .watermarkCursor : .acknowledgement)]
    }
}

/// The state of a notification at one sink.
package struct SinkStatus: Sendable, Hashable {
    package let sink: String
    package let state: DeliveryState
    /// The time of the next attempt while the state is pending.
    package var nextAttemptAt: Timestamp
    package let updatedAt: Timestamp
    package var attempts = 0
    package var rejections = 0
    /// The reason for the last failed attempt; `nil` if the last attempt succeeded.
    package var reason: FailureReason?
    /// Whether only the sink's hours put off the next attempt.
    package var isHeld = false
    /// End of the lease of a running attempt.
    package var leasedUntil: Timestamp?
    /// The wait of the sink itself, for any notification; `nil` if it is tried.
    package var pause: ChangeWait?

    package init(_ sink: String, _ state: DeliveryState, nextAttemptAt: Timestamp, updatedAt: Timestamp) {
        (self.sink, self.state, self.nextAttemptAt, self.updatedAt) = (sink, state, nextAttemptAt, updatedAt)
    }
}

/// A reason why a change or a notification is not finished.
package struct ChangeWait: Sendable, Hashable {
    package enum Reason: String, Sendable, CaseIterable, Codable {
        case identity
        case sinks
        case groupWait = "group_wait"
        case groupInterval = "group_interval"
        case dispatch
        case snooze
        case digest
        case attempt
        case sinkBackoff = "sink_backoff"
        case sinkCircuit = "sink_circuit"
        case sinkRetryAfter = "sink_retry_after"
        case sinkHours = "sink_hours"
        case rejected
        case acknowledgement
        case ackRetry = "ack_retry"
        case ackQueue = "ack_queue"
        case rateLimit = "rate_limit"
        case watermarkRow = "watermark_row"
        case watermarkCursor = "watermark_cursor"
        case room
        case retry
    }

    package let reason: Reason
    /// End of the wait; `nil` if it has no known end.
    package var until: Timestamp?
    /// The sink that is waited for.
    package var sink: String?
    /// The outbox row that is in the way.
    package var row: Int64?

    package init(_ reason: Reason, until: Timestamp? = nil, sink: String? = nil, row: Int64? = nil) {
        (self.reason, self.until, self.sink, self.row) = (reason, until, sink, row)
    }

    /// One sentence for a person, without the end of the wait.
    package var sentence: String {
        let sink = sink.map { "Sink \($0)" } ?? "A sink"
        let row = row.map { "row \($0)" } ?? "an earlier row"
        return switch reason {
        case .identity: "Its identity is not active."
        case .sinks: "No sink takes notifications."
        case .groupWait: "The group waits for more changes (delivery.group_wait)."
        case .groupInterval: "The last notification of this poll is too recent (group_interval)."
        case .dispatch: "It is due; the next delivery pass takes it."
        case .snooze: "It was snoozed."
        case .digest: "The digest's time has not come."
        case .attempt: "\(sink) has the notification and has not answered."
        case .sinkBackoff: "\(sink) was unreachable and is tried again."
        case .sinkCircuit: "\(sink) is down; its circuit is open."
        case .sinkRetryAfter: "\(sink) asked for a wait."
        case .sinkHours: "\(sink) holds notifications now (quiet_hours or deliver_at)."
        case .rejected: "\(sink) rejected the notification and is tried again."
        case .acknowledgement: "It is delivered; the next acknowledgement pass takes it."
        case .ackRetry: "The server did not take its batch of acknowledgements, which is sent again."
        case .ackQueue: "Another batch of acknowledgements comes first."
        case .rateLimit: "The server's or the agent's rate limit is used up."
        case .watermarkRow: "The watermark waits for \(row)."
        case .watermarkCursor: "The watermark waits until the poll has fetched all earlier changes."
        case .room: "It was evicted; the agent fetches it again when the outbox has room."
        case .retry:
            "It is a dead letter. Retry or discard it: starwatch outbox retry \(self.row.map(String.init) ?? "ROW")"
        }
    }
}
