package import StarwatchCore

/// Stores the last notifications for the control API. A repeated delivery is stored once.
package struct FeedSink: NotificationSink {
    package let name: String
    private let keep: Int
    private let feed: Feed

    init(name: String, keep: Int, feed: Feed) {
        self.name = name
        self.keep = keep
        self.feed = feed
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await feed.append(notification, keep: keep)
    }
}
