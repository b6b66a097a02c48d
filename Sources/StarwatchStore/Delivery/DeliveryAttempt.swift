package import StarwatchCore

/// An attempt at a sink, for its notification's story.
package struct DeliveryAttempt: Sendable, Hashable {
    package let answer: SinkAnswer
    /// The reason as one sentence without personal data; `nil` for a success.
    package let reason: String?
    package let startedAt: Timestamp

    package init(_ answer: SinkAnswer, reason: String?, startedAt: Timestamp) {
        self.answer = answer
        self.reason = reason
        self.startedAt = startedAt
    }
}

/// A stored attempt.
package struct StoredAttempt: Sendable, Hashable {
    package let sink: String
    /// Number of the attempt at this sink, from 1.
    package let number: Int
    package let attempt: DeliveryAttempt
    package let finishedAt: Timestamp
    /// Time of the next attempt, as planned then; `nil` if none was planned.
    package let nextAttemptAt: Timestamp?
}
