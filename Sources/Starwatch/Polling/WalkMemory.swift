import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Synchronization

/// The facts of a poll's last complete walk that the next one needs.
///
/// Kept in memory only: the first cycle after a start fetches the overlap once.
final class WalkMemory: Sendable {
    /// A cursor below which nothing can appear any more, so that the next cycle fetches no overlap. Any change of the
    /// account or its stars ends it, because it holds for what was asked for.
    private struct Settled: Equatable {
        let stream: StreamKey
        let generation: Int
        let interests: Interests?
        let cursor: JWTID
    }

    private struct Known {
        var settled: Settled?
        /// The stream of the last complete walk, and its beginning by the time since the machine's start.
        var walk: (stream: StreamKey, begun: Duration)?
        /// The item that made the last page unreadable.
        var unreadable: (stream: StreamKey, span: RefusedItem.Span)?
        /// The last `Date` of the server, and the time since the machine's start at which it came.
        var date: (server: Timestamp, boottime: Duration)?
        /// Whether the cursor was ahead of the server's time.
        var wasAhead = false
    }

    private let known = Mutex(Known())

    /// Whether the stored cursor is settled. Never with tombstones, because they move the cursor back.
    func isSettled(_ stream: StreamKey, _ state: PollState, _ cursor: JWTID?, _ interests: Interests?) -> Bool {
        guard let cursor, !state.hasTombstones else { return false }
        let asked = Settled(stream: stream, generation: state.generation, interests: interests, cursor: cursor)
        return known.withLock { $0.settled == asked }
    }

    /// Remembers the settled cursor of a complete walk; `nil` forgets.
    func settle(_ cursor: JWTID?, of stream: StreamKey, _ state: PollState, _ interests: Interests?) {
        let new = cursor.map {
            Settled(stream: stream, generation: state.generation, interests: interests, cursor: $0)
        }
        known.withLock { $0.settled = new }
    }

    /// Remembers the beginning of a complete walk whose answers confirmed the server's time.
    func walked(_ stream: StreamKey, since begun: Duration) { known.withLock { $0.walk = (stream, begun) } }

    /// The time since the last complete walk began, which a wall clock cannot change; `nil` if there was none since the
    /// start. What that walk has not seen is newer, even if the server's clock was set back since.
    ///
    /// - Parameter boottime: The time since the machine's start.
    func sinceWalk(_ stream: StreamKey, boottime: Duration) -> Duration? {
        known.withLock { known in known.walk.flatMap { $0.stream == stream ? boottime - $0.begun : nil } }
    }

    /// The place of the item that made a page of the stream unreadable before; `nil` if none did.
    func unreadable(in stream: StreamKey) -> RefusedItem.Span? {
        known.withLock { known in known.unreadable.flatMap { $0.stream == stream ? $0.span : nil } }
    }

    /// Notes the place of an item that makes its page unreadable.
    func found(_ span: RefusedItem.Span?, in stream: StreamKey) {
        known.withLock { $0.unreadable = span.map { (stream, $0) } }
    }

    /// Notes what is stored about the last walk, for ``sinceWalk(_:boottime:)``, until a walk ends in this run. The walks of
    /// this run change it, and the first of them cannot know the server's time.
    func noteStored(_ stream: StreamKey, since begun: Duration) {
        known.withLock { if $0.walk?.stream != stream { $0.walk = (stream, begun) } }
    }

    /// The server's time by its last `Date`, whatever the local clock shows; `nil` before the first one.
    func serverTime(at boottime: Duration) -> Timestamp? {
        known.withLock { $0.date.map { $0.server + (boottime - $0.boottime) } }
    }

    /// Notes a `Date` of the server.
    ///
    /// - Returns: Whether ``serverTime(at:)`` was unknown, or too late by more than `tolerance`.
    func note(_ date: Timestamp, at boottime: Duration, tolerance: Duration) -> Bool {
        known.withLock { known in
            let assumed = known.date.map { $0.server + (boottime - $0.boottime) }
            known.date = (date, boottime)
            return assumed.map { date + tolerance < $0 } ?? true
        }
    }

    /// Notes whether the cursor is ahead of the server's time, and returns whether it is for the first time.
    func noteAhead(_ isAhead: Bool) -> Bool {
        known.withLock { known in
            defer { known.wasAhead = isAhead }
            return isAhead && !known.wasAhead
        }
    }
}
