package import StarwatchCore

/// What the control socket may ask about notifications.
package protocol NotificationControl: Sendable {
    /// The active identity's, the newest first.
    func notificationList(_ query: NotificationQuery) async throws(ControlError) -> [NotificationEntry]
    func notificationShow(_ id: String) async throws(ControlError) -> NotificationEntry
    /// Does what a person chose. The same again changes nothing.
    func notificationAct(_ id: String, _ action: NotificationAction) async throws(ControlError) -> ActionReport
    func shortlinkShow(_ shortlink: Shortlink) async throws(ControlError) -> ShortlinkReport
}

/// Which notifications to list, the newest first.
package struct NotificationQuery: Sendable, Hashable {
    /// The most that one list holds.
    package static let listLimit = 1000

    /// Only those after this one in the list: the `row` of the last one of the page before.
    package var before: Int64?
    /// From 1 to ``listLimit``.
    package var limit = 100

    package init() {}
}

/// A notification, as its reader sees it. Given only over the control socket.
package struct NotificationEntry: Sendable, Codable, Hashable {
    package var row: Int64
    package var id: String
    package var poll: String
    /// `open`, `delivered`, `dead`, `cancelled` or `released`.
    package var state: String
    package var group: String
    package var count: Int
    package var title: String
    package var body: String
    package var createdAt: String
    package var deepLink: String?
    /// What can be done with it.
    package var offers: [String]
    /// What was done with it.
    package var actions: [ActionReport]
    /// The notification that this one repeats; `nil` for a first one.
    package var repeats: String?
    /// What every sink said about it; `nil` in lists.
    package var deliveries: [OutboxEntry.Delivery]?

    enum CodingKeys: String, CodingKey {
        case row, id, poll, state, group, count, title, body
        case createdAt = "created_at"
        case deepLink = "deep_link"
        case offers, actions, repeats, deliveries
    }
}

/// What was done with a notification.
package struct ActionReport: Sendable, Codable, Hashable {
    package var notificationID: String
    package var action: NotificationAction
    package var doneAt: String
    /// Whether it had been done before, so that nothing has changed now; `nil` in lists.
    package var already: Bool?
    /// The notification that a snooze made.
    package var repetition: String?
    /// When that is delivered.
    package var repeatsAt: String?
    /// Where viewing leads.
    package var deepLink: String?

    enum CodingKeys: String, CodingKey {
        case notificationID = "notification_id"
        case action
        case doneAt = "done_at"
        case already, repetition
        case repeatsAt = "repeats_at"
        case deepLink = "deep_link"
    }
}

/// What a shortlink stands for.
package struct ShortlinkReport: Sendable, Codable, Hashable {
    package struct Target: Sendable, Codable, Hashable {
        package var jwtID: String
        package var plan: String

        enum CodingKeys: String, CodingKey {
            case jwtID = "jwt_id"
            case plan
        }
    }

    package var poll: String
    package var expiresAt: String
    package var changes: [Target]

    enum CodingKeys: String, CodingKey {
        case poll
        case expiresAt = "expires_at"
        case changes
    }
}
