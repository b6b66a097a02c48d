package import StarwatchCore

/// All a cycle has to know before it asks the server.
package struct PollState: Sendable, Hashable {
    /// The identity's generation, to be given back with every commit.
    package let generation: Int
    /// Whether the stream's account is the active identity.
    package let isActive: Bool
    /// How far the stream was fetched completely; `nil` before the first complete walk.
    package let fetchCursor: JWTID?
    package let bootstrapped: Bool
    package let walk: OpenWalk?
    package let watermark: JWTID?
    package let lastAttempt: Timestamp?
    package let lastSuccess: Timestamp?
    package let nextRun: Timestamp?
    /// Pending and claimed rows of all streams: what the cap counts.
    package let openRows: Int
    /// How many new rows may be stored: the cap minus ``openRows``, at least 0.
    package let room: Int
    /// Whether rows that were dropped for room are to be fetched again.
    package let hasTombstones: Bool
    /// The newest rows, which a poll that looks back from the cursor gets again; empty while there are tombstones.
    package let known: Set<JWTID>

    /// Whether storing `changes` and moving the cursor would write nothing.
    package func knows(_ changes: [Change], upTo move: CursorMove) -> Bool {
        guard changes.allSatisfy({ known.contains($0.id) }) else { return false }
        guard let target = move.target(last: changes.last?.id) else { return true }
        return fetchCursor.map { $0.precedes(target) != true } ?? false
    }
}

/// What one cycle leaves behind.
package struct CycleRecord: Sendable, Hashable {
    package var stream: StreamKey
    package var runID: String
    /// When the cycle reached the API; `nil` for a skip, which is no attempt.
    package var startedAt: Timestamp?
    package var finishedAt: Timestamp
    /// `nil` for a skip: the last outcome stays.
    package var outcome: PollOutcome?
    /// When the cycle succeeded, in the time that freshness is measured in; `nil` if it did not.
    package var successAt: Timestamp?
    /// When the schedule fires next; `nil` leaves what is stored.
    package var nextRun: Timestamp?
    /// New rows, for the history.
    package var newRows = 0
    /// One word of a closed set on why it failed, for the history.
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

/// One line of a stream's history.
package struct HistoryEntry: Sendable, Hashable {
    package let runID: String
    package let startedAt: Timestamp
    package let finishedAt: Timestamp
    package let outcome: PollOutcome
    package let newRows: Int
    package let reason: String?
}
