package import StarwatchCore
import StarwatchStore

/// A notification that the feed keeps. Given only over the control socket, because it names projects.
package struct FeedEntry: Sendable, Codable, Hashable {
    /// Greater than that of every notification before it.
    package var sequence: Int64
    package var storedAt: String
    package var notification: NotificationMessage

    enum CodingKeys: String, CodingKey {
        case sequence
        case storedAt = "stored_at"
        case notification
    }

    package init(sequence: Int64, storedAt: String, notification: NotificationMessage) {
        self.sequence = sequence
        self.storedAt = storedAt
        self.notification = notification
    }
}

/// Which notifications to list, the newest first.
package struct FeedQuery: Sendable, Hashable {
    /// The most that one list holds.
    package static let listLimit = 1000

    /// Smaller sequences only: the last one of the page before.
    package var before: Int64?
    /// From 1 to ``listLimit``.
    package var limit = 100

    package init() {}
}
