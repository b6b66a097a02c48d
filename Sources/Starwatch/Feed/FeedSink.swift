package import StarwatchCore

/// Stores the last notifications for the control API. A repeated delivery is stored once.
package struct FeedSink: NotificationSink {
    package let name: String
    let keep: Int
    let feed: Feed

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await feed.append(notification, keep: keep)
    }
}
