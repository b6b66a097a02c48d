import StarwatchCore
import StarwatchStore
import Synchronization

/// The cursor of a poll below which nothing can appear any more, so that the next cycle fetches no overlap.
///
/// Kept in memory only: the first cycle after a start fetches the overlap once. Any change of the account or its stars
/// ends it, because it holds for what was asked for.
final class SettledCursor: Sendable {
    private struct Known: Equatable {
        let stream: StreamKey
        let generation: Int
        let interests: Interests?
        let cursor: JWTID
    }

    private let known = Mutex<Known?>(nil)

    /// Whether the stored cursor is settled. Never with tombstones, because they move the cursor back.
    func holds(_ stream: StreamKey, _ state: PollState, _ cursor: JWTID?, _ interests: Interests?) -> Bool {
        guard let cursor, !state.hasTombstones else { return false }
        let asked = Known(stream: stream, generation: state.generation, interests: interests, cursor: cursor)
        return known.withLock { $0 == asked }
    }

    /// Remembers the result of a complete walk; `nil` forgets.
    func set(_ cursor: JWTID?, of stream: StreamKey, _ state: PollState, _ interests: Interests?) {
        let new = cursor.map {
            Known(stream: stream, generation: state.generation, interests: interests, cursor: $0)
        }
        known.withLock { $0 = new }
    }
}
