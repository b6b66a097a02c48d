package import StarwatchCore

/// A place where notifications go. Does one attempt; when to try again is decided elsewhere.
package protocol NotificationSink: Sendable {
    /// The configured name.
    var name: String { get }
    /// Whether it can make a notification disappear that is taken back. Other sinks are not told.
    var takesBack: Bool { get }
    /// Hands over one notification. The same `id` may come again after a crash or a failure, with the same content.
    ///
    /// When the task is cancelled the attempt ends as ``SinkResult/unavailable(_:retryAfter:)``.
    func deliver(_ notification: OutgoingNotification) async -> SinkResult
}

extension NotificationSink {
    package var takesBack: Bool { false }
}

/// How one attempt ended. The texts are fixed sentences without personal data.
package enum SinkResult: Sendable, Hashable {
    case ok
    /// The sink refuses this notification; trying costs the row an attempt.
    case rejected(String)
    /// The sink is down; costs no attempt. `retryAfter` is what it asked for.
    case unavailable(String, retryAfter: Duration?)
    /// No answer in time; otherwise as ``unavailable(_:retryAfter:)``.
    case timeout
    /// The sink wants no more (410).
    case gone

    /// Whether the sink said nothing about this notification.
    var isNoAnswer: Bool {
        switch self {
        case .unavailable, .timeout: true
        case .ok, .rejected, .gone: false
        }
    }
}
