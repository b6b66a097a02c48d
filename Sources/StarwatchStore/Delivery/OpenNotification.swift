package import StarwatchCore

/// The permission to send one notification to one sink until the lease ends.
///
/// The result counts only under its own lease: a worker that lost its lease cannot overrule its successor.
package struct DeliveryTicket: Sendable, Hashable {
    /// The notification's id, `ntf_…`.
    package let notification: String
    package let stream: StreamKey
    package let sink: String
    /// The time since which the sink has been due.
    package let dueSince: Timestamp
    /// The number of the lease: the first one claims the rows.
    var lease = 1
    /// The number of earlier attempts at this sink, whatever their result.
    package private(set) var earlierAttempts = 0
    /// The number of rejections by this sink.
    package private(set) var rejections = 0
}

/// A notification that is due at one or more sinks.
package struct OpenNotification: Sendable, Hashable, Identifiable {
    package let outgoing: OutgoingNotification
    package let stream: StreamKey
    /// ``StoreMemory/renewals`` when it was read.
    let renewals: Int
    /// One ticket for every due sink, leased to the caller.
    package let tickets: [DeliveryTicket]

    package var id: String { outgoing.id }
    package var runID: String { outgoing.runID }
}

/// The result of one attempt.
package enum DeliveryOutcome: Sendable, Hashable {
    /// The sink accepted the notification.
    case ok
    /// The sink rejected it. Counts as a retry.
    case rejected(nextAttemptAt: Timestamp)
    /// The sink was unreachable. Does not count as a retry.
    case unavailable(nextAttemptAt: Timestamp)
    /// Not sent, because the sink's circuit is open or the sink asked for a wait. Does not count as an attempt.
    case postponed(until: Timestamp)
    /// Not sent, because of the sink's hours. Does not count as an attempt, and the sink is not due meanwhile.
    case held(until: Timestamp)
    /// The sink was down for too long, at an attempt or while its circuit is open. No further attempt is made.
    case givenUp(isAttempt: Bool)
    /// The sink is permanently gone (410). The notification is left to the other sinks.
    case gone

    /// How long the sink's hours hold it.
    func hold(from now: Timestamp) -> Duration { if case .held(let until) = self { until - now } else { .zero } }
}

/// The state of a notification after an attempt.
package enum DeliveryResult: Sendable, Hashable {
    /// The lease has ended, or the notification is closed. Nothing was written.
    case stale
    /// Its rows wait for a sink.
    case waiting
    /// Its rows are delivered, by ``DeliveryRule``. Lists the rows that this result delivered; none if an earlier result
    /// did.
    case delivered([JWTID])
    /// Its rows are dead, by the same rule. Lists the rows that this result made dead.
    case dead([JWTID])
    /// Every sink is gone. The rows are pending again.
    case released(rows: Int)
    /// The results of a notification that brought others to the sink, and of those.
    case several([DeliveryResult])

    /// The rows that this result delivered.
    package var deliveredRows: [JWTID] {
        switch self {
        case .delivered(let ids): ids
        case .several(let results): results.flatMap(\.deliveredRows)
        case .stale, .waiting, .dead, .released: []
        }
    }
}

/// The rows of one stream that wait to be claimed, and the time of the last claim, for `group_interval`.
package typealias DueSummary = (count: Int, oldestCreatedAt: Timestamp?, lastNotifiedAt: Timestamp?)
