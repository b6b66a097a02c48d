package import StarwatchCore

/// Keeps the last notifications for the control API, each once however often it is given.
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
