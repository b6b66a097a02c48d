package import StarwatchCore

/// A stored notification that loses changes.
package struct NotificationRemainder: Sendable {
    package let poll: PollName
    package let message: NotificationMessage
    /// The changes that it loses. At least one other is left.
    package let discarded: Set<JWTID>
    /// The changes of offers without a plan.
    package let offers: Set<JWTID>
}

/// Renders a notification without the changes that it loses. Runs on the store's queue and must not block. `nil` leaves
/// the notification as it is.
package typealias NotificationRenewal =
    @Sendable (NotificationRemainder) -> (notification: OutgoingNotification, shortlink: Shortlink?)?
