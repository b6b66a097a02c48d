package import StarwatchCore

/// A notification, as its reader sees it. Served only by the control API.
package struct NotificationEntry: Sendable, Codable, Hashable {
    /// The position in lists.
    package var row: Int64
    package var id: String
    package var poll: String
    /// The polls of its changes, if it joins what a sink held of several; ``poll`` is then that of the last one that it joins.
    package var polls: [String]?
    /// `open`, `delivered`, `dead`, `cancelled` or `released`.
    package var state: String
    package var group: String
    package var count: Int
    package var title: String
    package var body: String
    package var createdAt: TimeText
    package var deepLink: String?
    /// The actions that the notification offers.
    package var offers: [String]
    /// The actions that were performed.
    package var actions: [ActionReport]
    /// The notification that this one repeats; `nil` for an original.
    package var repeats: String?
    /// The result of every sink; `nil` in lists.
    package var deliveries: [OutboxEntry.Delivery]?
    /// The changes that it announces or announced, at most 100 with a row; `nil` in lists.
    package var changes: [Change]?

    /// Names of its polls, for a person.
    package var pollNames: String { (polls ?? [poll]).joined(separator: ", ") }

    package struct Change: Sendable, Codable, Hashable {
        /// The outbox row; `nil` if it is deleted.
        package var row: Int64?
        package var jwtID: String
        /// `nil` if the row is deleted.
        package var state: OutboxState?
        /// Its poll, in a notification of several polls; `nil` otherwise.
        package var poll: String?

        package init(row: Int64? = nil, jwtID: String, state: OutboxState? = nil, poll: String? = nil) {
            (self.row, self.jwtID, self.state, self.poll) = (row, jwtID, state, poll)
        }
    }
}

/// An action that was performed on a notification.
package struct ActionReport: Sendable, Codable, Hashable {
    package var notificationID: String
    package var action: NotificationAction
    package var doneAt: TimeText
    /// `true` if the action had been performed before, so nothing changed; `nil` in lists.
    package var already: Bool?
    /// The notification that a snooze created.
    package var repetition: String?
    /// The repetition's delivery time.
    package var repeatsAt: TimeText?
    /// The link that viewing opens.
    package var deepLink: String?
}

/// An action that a person chose on a notification.
package struct ChosenAction: Sendable, Hashable {
    package var notification: String
    package var action: NotificationAction

    package init(_ action: NotificationAction, on notification: String) {
        (self.notification, self.action) = (notification, action)
    }
}

/// The changes behind a shortlink.
package struct ShortlinkReport: Sendable, Codable, Hashable {
    package struct Target: Sendable, Codable, Hashable {
        package var jwtID: String
        package var plan: String
    }

    package var poll: String
    package var expiresAt: TimeText
    package var changes: [Target]
}

/// The active identity's notifications.
package struct NotificationListing: Sendable, Codable {
    package var notifications: [NotificationEntry]
}

/// The notifications that the sink of kind `feed` keeps.
package struct FeedListing: Sendable, Codable {
    package var notifications: [FeedEntry]
    /// The id by which feed readers know the feed under any address. It is no part of the JSON.
    package var id = ""

    enum CodingKeys: String, CodingKey { case notifications }
}

/// A notification that the feed keeps. Served only by the control API, because it names projects.
package struct FeedEntry: Sendable, Codable, Hashable {
    /// The sequence, which rises with every notification.
    package var sequence: Int64
    package var storedAt: TimeText
    package var notification: NotificationMessage

    enum CodingKeys: String, CodingKey {
        case sequence
        case storedAt = "stored_at"
        case notification
    }
}
