package import StarwatchCore

/// A cycle to run.
package struct PollRun: Sendable, Hashable {
    package var name: String
    /// The poll is skipped as `recent` if its last success is younger, in whole seconds; by default it is never skipped.
    package var unlessWithin: Duration?

    package init(_ name: String, unlessWithin: Duration? = nil) {
        (self.name, self.unlessWithin) = (name, unlessWithin)
    }
}

/// The outcome of a cycle run by hand.
package struct PollReport: Sendable, Codable, Hashable {
    package var poll: String
    /// `changed`, `unchanged`, `bootstrapped`, `deferred`, `failed`, `cancelled` or `skipped`.
    package var outcome: String
    /// The reason why the cycle was skipped, deferred or failed; `nil` otherwise.
    package var reason: String?
    /// The reason in a word, such as `http_401`, if the server, the token or the database was it; `nil` otherwise.
    package var cause: String?
    package var runID: String
    package var fetched = 0
    package var new = 0
    package var notifications = 0
    package var acknowledged = 0
    package var watermarkMoved = false
    /// The number of the poll's changes that wait for their delivery at the end; `nil` if it is not known.
    package var undelivered: Int?
    /// The number of its delivered changes that wait for their acknowledgement at the end; `nil` if it is not known.
    package var unacknowledged: Int?
}

/// The result of the notifications that test a sink: of the first that it did not accept, or else of the last one.
package struct SinkTestReport: Sendable, Codable, Hashable {
    /// The result of one notification.
    package struct Message: Sendable, Codable, Hashable {
        package var message: TestNotification
        /// The notification's id, `ntf_…`.
        package var notificationID: String
        package var result: SinkAnswer
        /// The reason as one sentence; `nil` if the sink accepted the notification.
        package var error: String?
        /// The first 200 characters of what a service that did not accept it answered, redacted; `nil` if it said nothing.
        package var answer: String?
        /// The duration of the attempt, in milliseconds.
        package var tookMilliseconds: Int
    }

    package var sink: String
    /// The notification's id, `ntf_…`.
    package var notificationID: String
    package var result: SinkAnswer
    /// The reason as one sentence; `nil` if the sink accepted all notifications.
    package var error: String?
    /// The duration of all attempts, in milliseconds.
    package var tookMilliseconds: Int
    /// The notifications that were sent, in their order.
    package var messages: [Message] = []
}

extension SinkTestReport {
    /// - Parameter messages: One at least.
    init(sink: String, messages: [Message]) {
        let decisive = messages.first { $0.result != .ok } ?? messages[messages.count - 1]
        self.init(
            sink: sink,
            notificationID: decisive.notificationID,
            result: decisive.result,
            error: decisive.error,
            tookMilliseconds: messages.reduce(0) { $0 + $1.tookMilliseconds },
            messages: messages
        )
    }
}

/// The answer to the end of a server's wait.
package struct ServerWaitReport: Sendable, Codable, Hashable {
    /// The time until which the wait would have lasted; `nil` if there was none.
    package var waitedUntil: TimeText?
}

/// The answer to the end of a sink's wait.
package struct SinkWaitReport: Sendable, Codable, Hashable {
    /// The time until which the longest wait would have lasted; `nil` if there was none.
    package var waitedUntil: TimeText?
    /// The number of notifications that waited.
    package var notifications: Int
}

/// The agent continues with the configuration of the file.
package struct ReloadAnswer: Sendable, Codable {
    package var reloaded: Bool
}
