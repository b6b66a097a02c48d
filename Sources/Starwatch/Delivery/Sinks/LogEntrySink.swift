package import Logging
package import StarwatchCore
import StarwatchTelemetry

/// Writes a structured log entry without personal data: id, poll, group and count.
///
/// It writes at every `log.level`, because a hidden notification would count as delivered.
package struct LogEntrySink: NotificationSink {
    package let name: String
    private var logger: Logger
    private let droppedLines: @Sendable () -> UInt64

    /// - Parameter droppedLines: The number of log lines that no reader took so far.
    package init(name: String, logger: Logger, droppedLines: @escaping @Sendable () -> UInt64 = { 0 }) {
        self.name = name
        self.logger = logger
        self.logger.logLevel = .trace
        self.droppedLines = droppedLines
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let dropped = droppedLines()
        logger.log(
            .notification,
            [
                .runID: "\(notification.runID)", .notificationID: "\(notification.id)",
                .poll: "\(notification.poll)", .group: "\(notification.group.rawValue)",
                .count: .number(notification.count),
            ]
        )
        // Another line can have been dropped meanwhile. Then this one is written twice, but never lost.
        guard droppedLines() == dropped else {
            return .unavailable(SinkFailure("The reader of the log takes no lines.", .output))
        }
        return .ok
    }
}

extension LogEntrySink: ConfiguredSink {
    package static let kind = "log"
    package static let setups = [SetupSink(kind, .log, rank: 2)]

    package static func make(_ sink: SinkOptions, by factory: SinkFactory) -> any NotificationSink {
        LogEntrySink(name: sink.name, logger: factory.logger, droppedLines: factory.droppedLines)
    }
}

extension SinkOptions.Kind {
    /// A structured log entry without personal data.
    public static var log: Self { Self(LogEntrySink.self) }
}
