package import StarwatchCore

/// A notification, as its reader sees it. Served only by the control API.
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
    /// The actions that the notification offers.
    package var offers: [String]
    /// The actions that were performed.
    package var actions: [ActionReport]
    /// The notification that this one repeats; `nil` for an original.
    package var repeats: String?
    /// The result of every sink; `nil` in lists.
    package var deliveries: [OutboxEntry.Delivery]?

    enum CodingKeys: String, CodingKey {
        case row, id, poll, state, group, count, title, body
        case createdAt = "created_at"
        case deepLink = "deep_link"
        case offers, actions, repeats, deliveries
    }
}

/// An action that was performed on a notification.
package struct ActionReport: Sendable, Codable, Hashable {
    package var notificationID: String
    package var action: NotificationAction
    package var doneAt: String
    /// `true` if the action had been performed before, so nothing changed; `nil` in lists.
    package var already: Bool?
    /// The notification that a snooze created.
    package var repetition: String?
    /// The repetition's delivery time.
    package var repeatsAt: String?
    /// The link that viewing opens.
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

/// The changes behind a shortlink.
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
