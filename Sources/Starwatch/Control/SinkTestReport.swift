package import StarwatchCore

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

    enum CodingKeys: String, CodingKey {
        case sink
        case notificationID = "notification_id"
        case result, error
        case tookMilliseconds = "took_ms"
    }
}
