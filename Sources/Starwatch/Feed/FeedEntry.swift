package import StarwatchCore
import StarwatchStore

/// A notification that the feed keeps. Served only by the control API, because it names projects.
package struct FeedEntry: Sendable, Codable, Hashable {
    /// The sequence, which rises with every notification.
    package var sequence: Int64
    package var storedAt: String
    package var notification: NotificationMessage

    enum CodingKeys: String, CodingKey {
        case sequence
        case storedAt = "stored_at"
        case notification
    }
}

/// A page of kept notifications, newest first.
package struct NotificationQuery: Sendable, Hashable {
    /// The maximum number of notifications in a list.
    package static let listLimit = 1000

    /// Only smaller sequences: the last one of the previous page.
    package var before: Int64?
    /// From 1 to ``listLimit``.
    package var limit = 100

    package init() {}
}
