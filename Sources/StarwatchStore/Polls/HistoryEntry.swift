package import StarwatchCore

/// One entry of a stream's history.
package struct HistoryEntry: Sendable, Hashable {
    package let runID: String
    package let startedAt: Timestamp
    package let finishedAt: Timestamp
    package let outcome: PollOutcome
    package let newRows: Int
    package let reason: String?
}
