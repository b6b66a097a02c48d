package import StarwatchCore

/// A notification destination. It makes one attempt; the dispatcher decides about retries.
package protocol NotificationSink: Sendable {
    /// The configured name.
    var name: String { get }
    /// `true` if the sink can remove a notification that is taken back. Other sinks are not told.
    var takesBack: Bool { get }
    /// Delivers one notification. The same `id` can come again after a crash or a failure, with the same content.
    ///
    /// If the task is cancelled, the attempt returns ``SinkResult/unavailable(_:retryAfter:)``.
    func deliver(_ notification: OutgoingNotification) async -> SinkResult
}

extension NotificationSink {
    package var takesBack: Bool { false }
}

/// Result of one attempt. The texts are fixed sentences without personal data.
package enum SinkResult: Sendable, Hashable {
    case ok
    /// The sink rejects this notification. The row loses one attempt.
    case rejected(String)
    /// The sink is down. The row loses no attempt. `retryAfter` is the delay that the sink requested.
    case unavailable(String, retryAfter: Duration?)
    /// The sink did not respond in time. Otherwise the same as ``unavailable(_:retryAfter:)``.
    case timeout
    /// The sink returned 410 Gone and is disabled.
    case gone

    /// `true` if the sink neither accepted nor rejected this notification.
    var isNoAnswer: Bool {
        switch self {
        case .unavailable, .timeout: true
        case .ok, .rejected, .gone: false
        }
    }
}
