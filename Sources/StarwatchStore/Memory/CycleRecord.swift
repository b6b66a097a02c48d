package import StarwatchCore

/// The result of one cycle. Its times are the local clock's.
package struct CycleRecord: Sendable, Hashable {
    package var stream: StreamKey
    package var runID: String
    /// The time when the cycle reached the API; `nil` for a skip, which is no attempt.
    package var startedAt: Timestamp?
    package var finishedAt: Timestamp
    /// The outcome; `nil` for a skip, which leaves the last outcome.
    package var outcome: PollOutcome?
    /// The time of success; `nil` if the cycle failed.
    package var successAt: Timestamp?
    /// The next run of the schedule; `nil` leaves the stored one.
    package var nextRun: Timestamp?
    /// The number of cycles in a row that rejected a page, with this one; `nil` leaves the stored number.
    package var refusedPages: Int?
    /// The server's time up to which the poll has seen every change; `nil` leaves the stored one.
    package var seenUntil: Timestamp?
    /// The number of new rows, for the history.
    package var newRows = 0
    /// The reason for a failure, for the history.
    package var reason: FailureReason?

    package init(
        stream: StreamKey,
        runID: String,
        startedAt: Timestamp? = nil,
        finishedAt: Timestamp,
        outcome: PollOutcome? = nil
    ) {
        (self.stream, self.runID, self.startedAt, self.finishedAt) = (stream, runID, startedAt, finishedAt)
        self.outcome = outcome
    }
}

extension CycleRecord {
    /// The record, with the fields that it lacks from an earlier one.
    func over(_ former: CycleRecord) -> CycleRecord {
        var record = self
        record.startedAt = startedAt ?? former.startedAt
        record.outcome = outcome ?? former.outcome
        record.successAt = successAt ?? former.successAt
        record.nextRun = nextRun ?? former.nextRun
        record.seenUntil = seenUntil ?? former.seenUntil
        return record
    }
}
