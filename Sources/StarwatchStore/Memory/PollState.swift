package import StarwatchCore

/// The stored state that a cycle needs before its first request.
package struct PollState: Sendable, Hashable {
    /// The account's generation, which every commit must pass back; 0 for an account that is not active.
    package let generation: Int
    /// Whether the stream's account is the active identity or served.
    package let isActive: Bool
    /// The end of the completely fetched range; `nil` before the first complete walk.
    package let fetchCursor: JWTID?
    package let bootstrapped: Bool
    package let walk: OpenWalk?
    package let watermark: JWTID?
    package let lastAttempt: Timestamp?
    package let lastSuccess: Timestamp?
    package let nextRun: Timestamp?
    /// The server's time up to which the poll had seen every change; `nil` if it is unknown. Out of date after a cycle
    /// without changes.
    package let seenUntil: Timestamp?
    /// The number of cycles in a row that rejected a page for its items or its bytes.
    package let refusedPages: Int
    /// The number of pending and claimed rows of the account, which the limit counts.
    package let openRows: Int
    /// The number of new rows that can be stored: the limit minus ``openRows``, at least 0.
    package let room: Int
    /// Whether evicted rows must be fetched again.
    package let hasTombstones: Bool
    /// The newest rows, which the overlap fetches again; empty while there are tombstones.
    package internal(set) var known: Set<JWTID> = []

    /// Whether committing `changes` and the move of the cursor would change nothing.
    package func knows(_ changes: [FetchedChange], upTo move: CursorMove) -> Bool {
        guard changes.allSatisfy({ known.contains($0.id) }) else { return false }
        guard let target = move.target(last: changes.last?.id) else { return true }
        return fetchCursor.map { $0.precedes(target) != true } ?? false
    }
}

/// A stream with its row and its state.
typealias KnownStream = (key: StreamKey, id: Int64, state: PollState)
