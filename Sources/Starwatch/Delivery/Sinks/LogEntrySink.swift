import Logging
package import StarwatchCore
import StarwatchTelemetry

/// Writes a structured log entry without personal data: id, poll, group and count.
package struct LogEntrySink: NotificationSink {
    package let name: String
    let logger: Logger

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        logger.log(
            .notification,
            [
                .runID: "\(notification.runID)", .notificationID: "\(notification.id)",
                .poll: "\(notification.poll)", .group: "\(notification.group.rawValue)",
                .count: .number(notification.count),
            ]
        )
        return .ok
    }
}
