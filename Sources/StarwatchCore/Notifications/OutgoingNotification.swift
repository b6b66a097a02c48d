/// A rendered notification: stored once, and sent unchanged to every sink at every attempt.
package struct OutgoingNotification: Sendable, Hashable, Identifiable {
    /// The stable id, `ntf_…`.
    package let id: String
    /// The run that made it.
    package let runID: String
    /// The name of its poll, digest or feature.
    package let poll: String
    package let group: NotificationGroup
    /// The number of changes. A notification without changes counts as one.
    package let count: Int
    package let title: String
    package let body: String
    /// The JSON of ``NotificationMessage`` or ``DigestMessage``.
    package let payload: [UInt8]
    /// The time since which the attempted sink has been due. It is later than `createdAt` if the sink's hours held the
    /// notification. `nil` for a test, and where no sink is meant.
    package var dueSince: Timestamp?

    package init(
        id: String,
        runID: String,
        poll: String,
        group: NotificationGroup,
        count: Int,
        text: (title: String, body: String),
        payload: [UInt8]
    ) {
        (self.id, self.runID, self.poll, self.group) = (id, runID, poll, group)
        self.count = count
        (title, body) = text
        self.payload = payload
    }

    /// Whether the hours of a sink hold it, by ``SinkHours/canHold(_:)``.
    package var canBeHeld: Bool { NotificationMessage(json: payload).map(SinkHours.canHold) ?? false }

    package init(_ message: NotificationMessage) {
        (id, runID, poll, group) = (message.id, message.runID, message.poll, message.group)
        count = max(1, message.count)
        (title, body, payload) = (message.title, message.body, message.json())
    }
}
