package import StarwatchCore

/// The stored life of one change.
package struct ChangeStory: Sendable {
    package let row: OutboxRow
    /// Whether its account is the active identity.
    package let isActive: Bool
    /// Whether a bootstrap stored it. It is then never announced and never acknowledged.
    package let isBootstrap: Bool
    /// The request that brought it; `nil` if it is not known, or has expired.
    package let page: PageOrigin?
    /// The notification that announces it; `nil` before the claim.
    package let notification: NotificationStory?
    /// The states that it has left, the first one first.
    package let history: [FormerState]
    /// The notifications that had it before, the first one first.
    package let formerNotifications: [NotificationStory]
    /// `X-Request-ID` of its acknowledgement; `nil` if there was none, or only locally.
    package let ackRequestID: String?
    package let batch: ChangeWaitFacts.Batch?
    package let watermark: Watermark
    package let due: DueSummary

    /// The relation of the change to its stream's watermark: the time at which the watermark passed it, `nil` if it did not, or the
    /// move has expired, and the first open row below it.
    package typealias Watermark = (isPast: Bool, passedAt: Timestamp?, blockingRow: Int64?, isBeyondCursor: Bool)
}

/// The stored life of one notification.
package struct NotificationStory: Sendable {
    /// `ntf_…`.
    package let id: String
    package let stream: StreamKey
    package let isActive: Bool
    package let state: StoredNotification.State
    package let runID: String
    package let createdAt: Timestamp
    package let finishedAt: Timestamp?
    /// The notification that this one repeats; `nil` for an original.
    package let repeats: String?
    package let rows: [StoryRow]
    package let attempts: [StoredAttempt]
    package let deliveries: [SinkStatus]
    /// The states that the notification and its sinks have left, the first one first.
    package let history: [FormerState]
}

/// An outbox row in a story of several.
package typealias StoryRow = (id: Int64, change: JWTID, state: OutboxState)

/// An armed digest that has no notification yet.
package typealias ArmedDigest = (digest: String, account: DID, fireAt: Timestamp, contentAt: Timestamp?, status: String)

/// The stored life of one run.
package struct RunStory: Sendable {
    /// The stream of its poll; `nil` if nothing of the cycle is stored.
    package let stream: StreamKey?
    /// The end of its cycle; `nil` if it is in progress, found no changes, or has expired.
    package let cycle: RecentRun?
    package let pages: [PageOrigin]
    /// The first rows that it stored.
    package let rows: [StoryRow]
    package let notifications: [String]

    package var isEmpty: Bool { cycle == nil && pages.isEmpty && rows.isEmpty && notifications.isEmpty }
}
