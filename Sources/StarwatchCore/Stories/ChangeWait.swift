/// A reason why a change or a notification is not finished.
package struct ChangeWait: Sendable, Hashable {
    package enum Reason: String, Sendable, CaseIterable, Codable {
        case identity
        case sinks
        case groupWait = "group_wait"
        case groupInterval = "group_interval"
        case dispatch
        case snooze
        case digest
        case attempt
        case sinkBackoff = "sink_backoff"
        case sinkCircuit = "sink_circuit"
        case sinkRetryAfter = "sink_retry_after"
        case rejected
        case acknowledgement
        case ackRetry = "ack_retry"
        case ackQueue = "ack_queue"
        case rateLimit = "rate_limit"
        case watermarkRow = "watermark_row"
        case watermarkCursor = "watermark_cursor"
        case room
        case retry
    }

    package let reason: Reason
    /// End of the wait; `nil` if it has no known end.
    package var until: Timestamp?
    /// The sink that is waited for.
    package var sink: String?
    /// The outbox row that is in the way.
    package var row: Int64?

    package init(_ reason: Reason, until: Timestamp? = nil, sink: String? = nil, row: Int64? = nil) {
        self.reason = reason
        self.until = until
        self.sink = sink
        self.row = row
    }

    /// One sentence for a person, without the end of the wait.
    package var sentence: String {
        let sink = sink.map { "Sink \($0)" } ?? "A sink"
        let row = row.map { "row \($0)" } ?? "an earlier row"
        return switch reason {
        case .identity: "Its identity is not active."
        case .sinks: "No sink takes notifications."
        case .groupWait: "The group waits for more changes (delivery.group_wait)."
        case .groupInterval: "The last notification of this poll is too recent (group_interval)."
        case .dispatch: "It is due; the next delivery pass takes it."
        case .snooze: "It was snoozed."
        case .digest: "The digest's time has not come."
        case .attempt: "\(sink) has the notification and has not answered."
        case .sinkBackoff: "\(sink) was unreachable and is tried again."
        case .sinkCircuit: "\(sink) is down; its circuit is open."
        case .sinkRetryAfter: "\(sink) asked for a wait."
        case .rejected: "\(sink) rejected the notification and is tried again."
        case .acknowledgement: "It is delivered; the next acknowledgement pass takes it."
        case .ackRetry: "The server did not take its batch of acknowledgements, which is sent again."
        case .ackQueue: "Another batch of acknowledgements comes first."
        case .rateLimit: "The server's or the agent's rate limit is used up."
        case .watermarkRow: "The watermark waits for \(row)."
        case .watermarkCursor: "The watermark waits until the poll has fetched all earlier changes."
        case .room: "It was evicted; the agent fetches it again when the outbox has room."
        case .retry:
            "It is a dead letter. Retry or discard it: starwatch outbox retry \(self.row.map(String.init) ?? "ROW")"
        }
    }
}
