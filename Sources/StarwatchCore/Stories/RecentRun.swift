/// One of the last runs of a poll, also if it found nothing. Contains no personal data.
package struct RecentRun: Sendable, Codable, Hashable {
    /// The last answer of the server.
    package struct Answer: Sendable, Codable, Hashable {
        /// The HTTP status; `nil` if the server did not answer.
        package var status: Int?
        package var tookMilliseconds: Int64
        /// `X-Request-ID`.
        package var requestID: String
        package var serverRequestID: String?

        package init(status: Int?, tookMilliseconds: Int64, requestID: String, serverRequestID: String?) {
            (self.status, self.tookMilliseconds) = (status, tookMilliseconds)
            (self.requestID, self.serverRequestID) = (requestID, serverRequestID)
        }
    }

    package let runID: String
    package let poll: String
    /// The times are the local clock's, in epoch milliseconds.
    package let startedAt: Int64
    package let finishedAt: Int64
    /// The outcome; `skipped` for a skip.
    package let outcome: String
    /// The reason for a failure or a skip, as a `FailureReason` or a `SkipReason`.
    package var reason: String?
    /// The number of requests that were sent, without repetitions.
    package var requests = 0
    package var answer: Answer?
    /// The number of new changes.
    package var new = 0

    package init(runID: String, poll: PollName, startedAt: Timestamp, finishedAt: Timestamp, outcome: String) {
        (self.runID, self.poll, self.outcome) = (runID, poll.rawValue, outcome)
        (self.startedAt, self.finishedAt) = (startedAt.milliseconds, finishedAt.milliseconds)
    }

    /// A run that ended before its first request.
    package init(runID: String, poll: PollName, at time: Timestamp, outcome: String, reason: String) {
        self.init(runID: runID, poll: poll, startedAt: time, finishedAt: time, outcome: outcome)
        self.reason = reason
    }

    /// The outcome of a run that was skipped.
    package static let skipped = "skipped"
}

extension RecentRun {
    /// The reason as one sentence; `nil` without one.
    package var sentence: String? {
        guard let reason else { return nil }
        if let skip = SkipReason(rawValue: reason), outcome == Self.skipped { return "Skipped: \(skip.phrase)." }
        return FailureReason(reason)?.sentence
    }
}
