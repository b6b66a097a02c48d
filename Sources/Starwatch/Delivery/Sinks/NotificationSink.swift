package import StarwatchCore

/// A notification destination. It makes one attempt; the dispatcher decides about retries.
package protocol NotificationSink: Sendable {
    /// The configured name.
    var name: String { get }
    /// `true` if the sink can remove a notification that is taken back. Other sinks do not receive the withdrawal.
    var takesBack: Bool { get }
    /// Delivers one notification. The same `id` can come again after a crash or a failure, with the same content.
    ///
    /// If the task is cancelled, the attempt returns ``SinkResult/unavailable(_:retryAfter:)``.
    func deliver(_ notification: OutgoingNotification) async -> SinkResult
}

extension NotificationSink {
    package var takesBack: Bool { false }
}

/// Cause of a failed attempt, as a fixed sentence without personal data and as a reason from a closed set.
package struct SinkFailure: Sendable, Hashable {
    package let sentence: String
    package let reason: FailureReason

    package init(_ sentence: String, _ reason: FailureReason) {
        (self.sentence, self.reason) = (sentence, reason)
    }

    package init(_ sentence: String, _ cause: FailureReason.Cause) {
        self.init(sentence, FailureReason(cause))
    }

    static let stopping = SinkFailure("The agent is stopping.", .cancelled)
}

/// Result of one attempt.
package enum SinkResult: Sendable, Hashable {
    case ok
    /// The sink rejects this notification. Counts as one of `outbox.max_retries`.
    case rejected(SinkFailure)
    /// The sink is down. The row loses no attempt. `retryAfter` is the delay that the sink requested.
    case unavailable(SinkFailure, retryAfter: Duration?)
    /// The sink did not respond in time. Otherwise the same as ``unavailable(_:retryAfter:)``.
    case timeout
    /// The sink returned 410 Gone and is disabled.
    case gone

    /// Cause of the failure; `nil` if the sink accepted the notification.
    package var failure: SinkFailure? {
        switch self {
        case .ok: nil
        case .rejected(let failure), .unavailable(let failure, _): failure
        case .timeout: SinkFailure("The sink did not answer in time.", .timeout)
        case .gone:
            SinkFailure(
                "The sink wants no more notifications; it is off until a reload.",
                FailureReason(status: 410)
            )
        }
    }

    /// `true` if the sink neither accepted nor rejected this notification.
    var isNoAnswer: Bool {
        switch self {
        case .unavailable, .timeout: true
        case .ok, .rejected, .gone: false
        }
    }
}
