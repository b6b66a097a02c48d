package import StarwatchCore

/// A notification as the dispatcher rendered it, before it is stored.
package struct NotificationDraft: Sendable, Hashable {
    /// The stable id, `ntf_…`; every try of every sink carries it.
    package let id: String
    /// The size of the group in words: `single`, `several` or `many`.
    package let group: String
    package let title: String
    package let body: String
    /// What sinks get, byte for byte, at every try.
    package let payload: [UInt8]
    /// What the payload's link stands for its rows by; stored with it for ``Shortlink/lifetime``.
    package let shortlink: Shortlink?

    package init(
        id: String,
        group: String,
        title: String,
        body: String,
        payload: [UInt8],
        shortlink: Shortlink? = nil
    ) {
        self.id = id
        self.group = group
        self.title = title
        self.body = body
        self.payload = payload
        self.shortlink = shortlink
    }
}

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

/// A notification that is claimed and not confirmed, with the sinks it is due at.
package struct OpenNotification: Sendable, Hashable, Identifiable {
    package let id: String
    package let stream: StreamKey
    package let group: String
    package let title: String
    package let body: String
    package let payload: [UInt8]
    package let rowCount: Int
    /// The run that claimed it.
    package let runID: String
    package let createdAt: Timestamp
    package let tickets: [DeliveryTicket]
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
