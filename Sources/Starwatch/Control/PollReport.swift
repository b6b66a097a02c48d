package import StarwatchCore

/// A cycle to run.
package struct PollRun: Sendable, Hashable {
    package var name: String
    /// The poll is skipped as `recent` if its last success is younger; whole seconds. `nil` never skips.
    package var unlessWithin: Duration?

    package init(_ name: String, unlessWithin: Duration? = nil) {
        (self.name, self.unlessWithin) = (name, unlessWithin)
    }
}

/// The outcome of a cycle run by hand.
package struct PollReport: Sendable, Codable, Hashable {
    package var poll: String
    /// `changed`, `unchanged`, `bootstrapped`, `deferred`, `failed`, or `skipped`.
    package var outcome: String
    /// The reason why the cycle was skipped, deferred or failed; `nil` otherwise.
    package var reason: String?
    /// The reason as a `FailureReason`, if the server, the token or the database was it; `nil` otherwise.
    package var cause: String?
    package var runID: String
    package var fetched = 0
    package var new = 0
    package var notifications = 0
    package var acknowledged = 0
    package var watermarkMoved = false
}

/// The result of a test notification.
package struct SinkTestReport: Sendable, Codable, Hashable {
    package var sink: String
    /// The notification's id, `ntf_…`.
    package var notificationID: String
    package var result: SinkAnswer
    /// The reason as one sentence; `nil` if the sink accepted the notification.
    package var error: String?
    /// The duration of the attempt, in milliseconds.
    package var tookMilliseconds: Int
}

/// The answer to the end of a server's wait.
package struct ServerWaitReport: Sendable, Codable, Hashable {
    /// The time until which the wait would have lasted; `nil` if there was none.
    package var waitedUntil: String?
}

package struct ReloadAnswer: Sendable, Codable {
    package var reloaded: Bool
}
