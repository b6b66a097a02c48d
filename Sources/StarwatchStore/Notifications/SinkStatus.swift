package import StarwatchCore

/// The state of one notification at one sink.
package struct SinkStatus: Sendable, Hashable {
    package typealias State = DeliveryState

    package let sink: String
    package let state: State
    package let attempts: Int
    package let rejections: Int
    /// The time of the next attempt while the state is pending.
    package let nextAttemptAt: Timestamp
    package let updatedAt: Timestamp
    /// The reason for the last failed attempt; `nil` if the last attempt succeeded.
    package let reason: FailureReason?
}
