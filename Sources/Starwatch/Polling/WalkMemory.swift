import StarwatchCore
import StarwatchStore
import Synchronization

/// The facts of a poll's last complete walk that the next one needs.
///
/// Kept in memory only: the first cycle after a start fetches the overlap once.
final class WalkMemory: Sendable {
    /// A cursor below which nothing can appear any more, so that the next cycle fetches no overlap. Any change of the
    /// account or its stars ends it, because it holds for what was asked for.
    struct Settled: Equatable {
        let stream: StreamKey
        let generation: Int
        let interests: Interests?
        let cursor: JWTID
    }

    private struct Known {
        var settled: Settled?
        /// The stream of the last complete walk, and its beginning by the time since the machine's start.
        var walk: (stream: StreamKey, begun: Duration)?
        /// The place of the item that made the last page unreadable.
        var unreadable: (stream: StreamKey, span: RefusedItem.Span)?
        /// The last `Date` of the server, and the time since the machine's start at which it came.
        var date: (server: Timestamp, boottime: Duration)?
        /// Whether the cursor was ahead of the server's time.
        var wasAhead = false
    }

    private let known = Mutex(Known())

    /// Whether a cursor is the settled one.
    func isSettled(_ cursor: Settled) -> Bool { known.withLock { $0.settled == cursor } }

    /// Remembers the settled cursor of a complete walk; `nil` forgets.
    func settle(_ cursor: Settled?) { known.withLock { $0.settled = cursor } }

    /// Remembers the beginning of a complete walk whose answers confirmed the server's time.
    func walked(_ stream: StreamKey, since begun: Duration) { known.withLock { $0.walk = (stream, begun) } }

    /// Remembers what is stored about the last walk, until a walk ends in this run. The walks of this run change it, and
    /// the first of them cannot know the server's time.
    func restoreWalk(_ stream: StreamKey, since begun: Duration) {
        known.withLock { if $0.walk?.stream != stream { $0.walk = (stream, begun) } }
    }

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

    /// Remembers the place of an item that makes its page unreadable.
    func found(_ span: RefusedItem.Span?, in stream: StreamKey) {
        known.withLock { $0.unreadable = span.map { (stream, $0) } }
    }

    /// The server's time by its last `Date`, whatever the local clock shows; `nil` before the first one.
    func serverTime(at boottime: Duration) -> Timestamp? {
        known.withLock { $0.date.map { $0.server + (boottime - $0.boottime) } }
    }

    /// Remembers a `Date` of the server.
    ///
    /// - Returns: Whether ``serverTime(at:)`` was unknown, or too late by more than `tolerance`.
    func learn(_ date: Timestamp, at boottime: Duration, tolerance: Duration) -> Bool {
        known.withLock { known in
            let assumed = known.date.map { $0.server + (boottime - $0.boottime) }
            known.date = (date, boottime)
            return assumed.map { date + tolerance < $0 } ?? true
        }
    }

    /// Remembers whether the cursor is ahead of the server's time, and returns whether it is for the first time.
    func isFirstAhead(_ isAhead: Bool) -> Bool {
        known.withLock { known in
            defer { known.wasAhead = isAhead }
            return isAhead && !known.wasAhead
        }
    }
}
