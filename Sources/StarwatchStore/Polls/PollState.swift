package import StarwatchCore

/// The stored state that a cycle needs before its first request.
package struct PollState: Sendable, Hashable {
    /// The identity's generation, which every commit must pass back.
    package let generation: Int
    /// Whether the stream's account is the active identity.
    package let isActive: Bool
    /// The end of the completely fetched range; `nil` before the first complete walk.
    package let fetchCursor: JWTID?
    package let bootstrapped: Bool
    package let walk: OpenWalk?
    package let watermark: JWTID?
    package let lastAttempt: Timestamp?
    package let lastSuccess: Timestamp?
    package let nextRun: Timestamp?
    /// The number of pending and claimed rows of all streams, which the limit counts.
    package let openRows: Int
    /// The number of new rows that can be stored: the limit minus ``openRows``, at least 0.
    package let room: Int
    /// Whether evicted rows must be fetched again.
    package let hasTombstones: Bool
    /// The newest rows, which the overlap fetches again; empty while there are tombstones.
    package let known: Set<JWTID>

    /// Whether committing `changes` and the move of the cursor would change nothing.
    package func knows(_ changes: [Change], upTo move: CursorMove) -> Bool {
        guard changes.allSatisfy({ known.contains($0.id) }) else { return false }
        guard let target = move.target(last: changes.last?.id) else { return true }
        return fetchCursor.map { $0.precedes(target) != true } ?? false
    }
}

/// The result of one cycle.
package struct CycleRecord: Sendable, Hashable {
    package var stream: StreamKey
    package var runID: String
    /// The time when the cycle reached the API; `nil` for a skip, which is no attempt.
    package var startedAt: Timestamp?
    package var finishedAt: Timestamp
    /// The outcome; `nil` for a skip, which leaves the last outcome.
    package var outcome: PollOutcome?
    /// The time of success, by the clock that measures freshness; `nil` if the cycle failed.
    package var successAt: Timestamp?
    /// The next run of the schedule; `nil` leaves the stored one.
    package var nextRun: Timestamp?
    /// The number of new rows, for the history.
    package var newRows = 0
    /// The reason for a failure, for the history: one word of a fixed set.
    package var reason: String?

    package init(stream: StreamKey, runID: String, startedAt: Timestamp?, finishedAt: Timestamp, outcome: PollOutcome?)
    {
        self.stream = stream
        self.runID = runID
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.outcome = outcome
    }
}

/// One entry of a stream's history.
package struct HistoryEntry: Sendable, Hashable {
    package let runID: String
    package let startedAt: Timestamp
    package let finishedAt: Timestamp
    package let outcome: PollOutcome
    package let newRows: Int
    package let reason: String?
}
