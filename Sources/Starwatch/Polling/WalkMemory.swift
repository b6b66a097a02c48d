import StarwatchCore
import StarwatchStore
import Synchronization

/// The facts of a poll's last complete walk that the next one needs, and its last runs.
///
/// The walk is kept in memory only: the first cycle after a start fetches the overlap once.
final class WalkMemory: Sendable {
    /// A cursor below which nothing can appear any more, so that the next cycle fetches no overlap. Any change of the
    /// account or its stars ends it, because it holds for what was asked for.
    struct Settled: Equatable {
        private let cursor: JWTID
        private let generation: Int
        private let snapshot: IdentityContext.Snapshot

        /// Returns `nil` without a cursor.
        init?(_ cursor: JWTID?, _ generation: Int, _ snapshot: IdentityContext.Snapshot) {
            guard let cursor else { return nil }
            (self.cursor, self.generation, self.snapshot) = (cursor, generation, snapshot)
        }

        static func == (a: Settled, b: Settled) -> Bool {
            a.cursor == b.cursor && a.generation == b.generation && a.snapshot.asksAs(b.snapshot)
        }
    }

    private struct Known {
        var settled: Settled?
        var horizon: (stream: StreamKey, value: SeenHorizon)?
        /// The place of the item that made the last page unreadable.
        var unreadable: (stream: StreamKey, span: RefusedItem.Span)?
        /// The changes that the cycles have left at the server; `nil` if the last one left nothing.
        var backlog: FetchBacklog?
        /// Whether the cursor was ahead of the server's time.
        var wasAhead = false
        /// The account's own plans that the last cycle asked for; `nil` if none has.
        var ownPlans: OwnPlansNote?
    }

    private let known = Mutex(Known())
    /// The last runs of the poll.
    let runs = RecentRuns()

    /// Whether a cursor is the settled one.
    func isSettled(_ cursor: Settled?) -> Bool { known.withLock { cursor != nil && $0.settled == cursor } }

    /// Remembers a complete walk, which has left nothing at the server.
    ///
    /// - Parameter cursor: The settled cursor; `nil` for none.
    func settle(_ cursor: Settled?) { known.withLock { ($0.settled, $0.backlog) = (cursor, nil) } }

    /// How far the stream was seen. At first it is what an earlier run has stored; walks and answers of this run change it.
    ///
    /// - Parameter stored: Returns the stored horizon. Called if this is the stream's first cycle of this run.
    func horizon(of stream: StreamKey, stored: () -> SeenHorizon) -> SeenHorizon {
        known.withLock { known in
            if let horizon = known.horizon, horizon.stream == stream { return horizon.value }
            let horizon = stored()
            known.horizon = (stream, horizon)
            return horizon
        }
    }

    /// Changes ``horizon(of:stored:)`` of the present stream.
    func move(_ change: (inout SeenHorizon) -> Void) {
        known.withLock { known in
            if known.horizon != nil { change(&known.horizon!.value) }
        }
    }

    /// Takes the page of an answer into the horizon of the present stream.
    ///
    /// - Parameter plansAsked: The time since the machine's start at which the cycle asked for the plans that the page is about;
    ///   `nil` if it asked for none.
    func receive(_ answer: PageAnswer, plansAsked: Duration?) {
        move { horizon in
            // Without a `Date` the server's time is the last one, and what has passed since.
            var seen = answer.readSince ?? horizon.serverTime(at: answer.sending.askedBoottime)
            // The page is not about plans that became the account's after that.
            if let plansAsked, let asked = horizon.serverTime(at: plansAsked) { seen = seen.map { min($0, asked) } }
            horizon.receive(readSince: seen)
        }
    }

    /// The server's time up to which the stream was seen; `nil` if it is unknown, or if no cycle has asked for it yet.
    func seenUntil(of stream: StreamKey) -> Timestamp? {
        known.withLock { $0.horizon.flatMap { $0.stream == stream ? $0.value.time : nil } }
    }

    /// The same of the present stream.
    var seenUntil: Timestamp? { known.withLock { $0.horizon?.value.time } }

    /// The server's time by its last `Date`, whatever the local clock shows; `nil` before the first one.
    func serverTime(at boottime: Duration) -> Timestamp? {
        known.withLock { $0.horizon?.value.serverTime(at: boottime) }
    }

    /// The place of the item that made a page of the stream unreadable before; `nil` if none did.
    func unreadable(in stream: StreamKey) -> RefusedItem.Span? {
        known.withLock { known in known.unreadable.flatMap { $0.stream == stream ? $0.span : nil } }
    }

    /// Remembers the place of an item that makes its page unreadable.
    func found(_ span: RefusedItem.Span?, in stream: StreamKey) {
        known.withLock { $0.unreadable = span.map { (stream, $0) } }
    }

    /// The changes that the cycles have left at the server; `nil` if the last complete one left nothing.
    var backlog: FetchBacklog? { known.withLock(\.backlog) }

    /// Takes the backlog from before a reload.
    func keepBacklog(_ backlog: FetchBacklog?) { known.withLock { $0.backlog = backlog } }

    /// Remembers that a cycle ended before its walk did.
    ///
    /// - Parameter rest: The server's time that it has not seen; `nil` if it is not known.
    func fellBehind(by rest: Duration?, now: Timestamp, at boottime: Duration) {
        known.withLock { known in
            guard known.backlog != nil else {
                known.backlog = FetchBacklog(rest: rest, since: now, at: boottime)
                return
            }
            known.backlog?.move(to: rest, at: boottime)
        }
    }

    /// The account's own plans that the last cycle asked for; `nil` if none has, or the poll names none.
    var ownPlans: OwnPlansNote? { known.withLock(\.ownPlans) }

    /// Remembers the account's own plans that a cycle asks for, and returns those of the cycle before.
    func note(_ plans: OwnPlansNote) -> OwnPlansNote? {
        known.withLock { known in
            defer { known.ownPlans = plans }
            return known.ownPlans
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
