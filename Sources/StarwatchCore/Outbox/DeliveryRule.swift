/// The state of a notification at one sink.
public enum DeliveryState: String, Sendable, CaseIterable {
    /// The sink is due, now or later.
    case pending
    /// The sink accepted the notification.
    case ok
    /// The sink rejected it too often.
    case rejected
    /// The sink was down for longer than its `give_up_after`.
    case givenUp = "given_up"
    /// The sink was removed, or returned 410 Gone.
    case gone
    /// Cancelled by a change of identity, by the operator, or with an expired digest.
    case cancelled
}

/// A sink's answer to one attempt. The raw values are stored and shown.
package enum SinkAnswer: String, Sendable, CaseIterable, Codable {
    /// The sink accepted the notification.
    case ok
    /// The sink rejects this notification. Counts as one of `outbox.max_retries`.
    case rejected
    /// The sink is down. The notification loses no retry.
    case unavailable
    /// The sink did not answer in time. Otherwise the same as ``unavailable``.
    case timeout
    /// The sink returned 410 Gone and is disabled.
    case gone
}

/// The rule that decides what a notification's changes become after the results of its sinks.
public enum DeliveryRule {
    /// The decision about the changes of a notification.
    public enum Verdict: Sendable, Hashable {
        /// They wait for a sink.
        case waiting
        /// They are delivered, and can be acknowledged.
        case delivered
        /// They are dead letters. They are never acknowledged, and the operator can retry them.
        case dead
        /// Every sink is gone. They wait for other sinks.
        case released
    }

    /// The verdict. Changes wait for required sinks only.
    ///
    /// A required sink that rejected the notification or was given up makes the changes dead, even if another one
    /// accepted them: the operator can retry the one that did not. An optional sink's result counts only if no required
    /// sink is left; then one acceptance is enough.
    ///
    /// - Parameters:
    ///   - required: The states at the required sinks.
    ///   - optional: The states at the sinks with `required: false`.
    public static func verdict(required: Set<DeliveryState>, optional: Set<DeliveryState>) -> Verdict {
        if required.contains(.pending) { return .waiting }
        if !required.isDisjoint(with: lost) { return .dead }
        if required.contains(.ok) || optional.contains(.ok) { return .delivered }
        if optional.contains(.pending) { return .waiting }
        return optional.isDisjoint(with: lost) ? .released : .dead
    }

    /// The states of a sink that never got the notification, which an operator can retry.
    public static let lost: Set<DeliveryState> = [.rejected, .givenUp]
}

/// The treatment of a sink that is down.
public struct SinkPolicy: Sendable, Hashable {
    /// The longest wait for an optional sink without `give_up_after`. Older deliveries are deleted anyway.
    public static let longestOptionalWait = Duration.seconds(14 * 86_400)

    /// Whether changes wait for this sink.
    public var isRequired: Bool
    /// The time after which a notification is given up; `nil` for never.
    public var giveUpAfter: Duration?
    /// Whether the sink gets synthetic changes.
    public var takesCanaries = false

    public init(isRequired: Bool = true, giveUpAfter: Duration? = nil) {
        self.isRequired = isRequired
        self.giveUpAfter = giveUpAfter
    }

    /// The time of the next attempt at a sink that is down; `nil` if the notification is given up now.
    ///
    /// - Parameters:
    ///   - proposed: The next attempt without a limit.
    ///   - dueSince: The time since which the sink has been due for the notification.
    public func nextAttempt(_ proposed: Timestamp, dueSince: Timestamp, now: Timestamp) -> Timestamp? {
        guard let limit = giveUpAfter ?? (isRequired ? nil : Self.longestOptionalWait) else { return proposed }
        let end = dueSince + limit
        return now >= end ? nil : min(proposed, end)
    }
}
