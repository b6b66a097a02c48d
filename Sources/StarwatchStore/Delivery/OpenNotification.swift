package import StarwatchCore

/// Permission to hand one notification to one sink until the lease ends.
///
/// The result counts only under the lease it was given for: a worker that was given up cannot overrule its successor.
package struct DeliveryTicket: Sendable, Hashable {
    /// The notification's id, `ntf_…`.
    package let notification: String
    package let sink: String
    let lease: Int
    /// How often this sink was given this notification before, whatever came of it.
    package let earlierAttempts: Int
    /// How often it refused it.
    package let rejections: Int
}

/// A notification that at least one sink is still due to get.
package struct OpenNotification: Sendable, Hashable, Identifiable {
    package let outgoing: OutgoingNotification
    package let stream: StreamKey
    /// One for every sink that is due, leased to the caller.
    package let tickets: [DeliveryTicket]

    package var id: String { outgoing.id }
    package var runID: String { outgoing.runID }
}

/// What a sink said.
package enum DeliveryOutcome: Sendable, Hashable {
    /// It accepted the notification (C-052).
    case ok
    /// It refused it; costs a try.
    case rejected(nextAttemptAt: Timestamp)
    /// It could not be reached; costs no try.
    case unavailable(nextAttemptAt: Timestamp)
    /// It was not asked: its circuit is open, or it wants to be left alone. Costs nothing.
    case postponed(until: Timestamp)
    /// It is gone for good (410): the notification is left to the other sinks.
    case gone
}

/// What became of a notification when a result was recorded.
package enum DeliveryResult: Sendable, Hashable {
    /// The lease was not current any more, or the notification is closed; nothing was written.
    case stale
    /// Sinks are left to try.
    case waiting
    /// At least one sink accepted it, and none is left to try.
    case delivered([JWTID])
    /// No sink accepted it, and one refused it as often as a row may be.
    case dead([JWTID])
    /// Every sink is gone: the rows are pending again.
    case released(rows: Int)
}

/// What one sink said about one notification so far.
package struct SinkStatus: Sendable, Hashable {
    package enum State: String, Sendable, CaseIterable {
        case pending, ok, rejected, gone, cancelled
    }

    package let sink: String
    package let state: State
    package let attempts: Int
    package let rejections: Int
    /// When it is tried next, while it is pending.
    package let nextAttemptAt: Timestamp
    package let updatedAt: Timestamp
}

/// What waits to be claimed in one stream.
package struct DueSummary: Sendable, Hashable {
    package let count: Int
    package let oldestCreatedAt: Timestamp?
    /// When a notification was last claimed, for `group_interval`; `nil` if never.
    package let lastNotifiedAt: Timestamp?
}
