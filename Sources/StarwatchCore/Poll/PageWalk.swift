/// The decisions of one cycle's fetch: which page to ask for next, and what its commit does to the cursor.
///
/// Ascending pages move the cursor as they are committed. Descending pages run from the newest to the oldest, so
/// the cursor moves only when the walk is complete; where a walk was interrupted is stored, and the next cycle goes
/// on from there. When plan identifiers were split over several requests, the cursor moves only after the last of
/// them.
///
/// Neither there nor over several ascending pages does the cursor move further than the server's time when the first
/// was sent: while a later one was read, a plan of an earlier request may have changed, or a late item may have shown
/// below an earlier page's last one. What is newer than that is fetched again with the next cycle's overlap. The first
/// ascending page itself was seen at one moment, so that the cursor follows it whatever clocks say.
public struct PageWalk: Sendable {
    /// What the walk is for.
    public enum Mode: Sendable, Hashable {
        case poll
        /// Find the newest identifier without announcing anything (C-003).
        case bootstrap
    }

    /// A request of the walk.
    public struct Step: Sendable, Hashable {
        /// Which part of the split plan identifiers to ask about.
        public let chunk: Int
        public let query: PageQuery
    }

    /// What to commit of a page.
    public struct Plan: Sendable, Hashable {
        public let changes: [Change]
        public let cursor: CursorMove
        /// The interrupted walk to store with the page; `nil` clears it.
        public let walk: OpenWalk?
        /// What to store instead when the page finds no room: to go on below the last item that did. `nil`: nothing.
        public let interrupted: OpenWalk?
    }

    public let dialect: Dialect
    public let mode: Mode
    /// The most pages of a walk that the next cycle goes on with; the rest waits for it.
    public let pageCap: Int
    /// Whether only a walk that comes to its end leads on: the cursor stays below what was dropped for room until the
    /// server gives it again or is known not to, so a walk that ended early would be repeated for ever.
    public let mustComplete: Bool

    /// The exclusive lower end of the walk: the cursor less the late-visibility overlap; `nil` is the beginning.
    public let lowerEnd: JWTID?
    /// The greatest identifier seen.
    public private(set) var top: JWTID?
    /// Whether the stream is now known up to its end.
    public private(set) var isComplete = false
    public private(set) var pages = 0

    private let chunkCount: Int
    private var chunk = 0
    private var pagesOfChunk = 0
    /// How many items the last request asked for.
    private var asked: Int
    private var after: JWTID?
    private var before: JWTID?
    /// The earliest time at which a page was asked for; an answer out of a cache may be older than the first one.
    private var firstAsked: Timestamp?
    /// The greatest identifier of the first page.
    private var firstTop: JWTID?
    private var stopped = false
    private let resumed: OpenWalk?
    private let cursor: JWTID?

    /// Plans a walk.
    ///
    /// - Parameters:
    ///   - cursor: The stored fetch cursor; `nil` means from the beginning.
    ///   - resume: An interrupted walk to finish first; ignored when the plans are split over several requests.
    ///   - chunks: How many requests the plan identifiers were split into; at least 1.
    ///   - mustComplete: See ``mustComplete``.
    public init(
        dialect: Dialect,
        mode: Mode,
        cursor: JWTID?,
        resume: OpenWalk?,
        chunks: Int,
        pageCap: Int = 50,
        mustComplete: Bool = false
    ) {
        self.dialect = dialect
        self.mode = mode
        self.pageCap = pageCap
        self.mustComplete = mustComplete
        self.chunkCount = chunks
        self.cursor = cursor
        self.asked = dialect.pageSize
        let overlap = cursor.map(dialect.overlap(below:))
        self.lowerEnd = overlap
        self.after = overlap
        self.resumed = chunks == 1 && dialect.isDescending && mode == .poll ? resume : nil
        if let resumed {
            self.top = resumed.top
            self.before = resumed.before
            self.after = resumed.after
        }
    }

    /// The next request; `nil` when the walk is over, complete or not.
    public mutating func next(limit: Int?) -> Step? {
        guard !stopped, !isComplete, chunk < chunkCount else { return nil }
        let limit = dialect == .canonical ? min(limit ?? dialect.pageSize, dialect.pageSize) : nil
        asked = limit ?? dialect.pageSize
        return Step(chunk: chunk, query: PageQuery(after: after, before: before, limit: limit))
    }

    /// Takes a page and says what to commit of it.
    ///
    /// - Parameters:
    ///   - askedAt: The server's time when the page was asked for, better too early than too late; `nil` when that is
    ///     not known.
    ///   - isLast: Whether the walk is to end here if the next cycle would go on from here.
    /// - Throws: ``PageRejection`` when the page does not move the walk, which would loop for ever.
    public mutating func receive(
        _ page: Page,
        askedAt: Timestamp?,
        isLast: Bool = false
    ) throws(PageRejection) -> Plan {
        let last = page.changes.last?.id
        let hasMore = page.hasMore || mayHideMore(page)
        if hasMore {
            if dialect.isDescending {
                // The server's next page lies below the last item, which must itself lie below the previous one.
                guard let last, before.map({ last.precedes($0) == true }) ?? true,
                    after.map({ $0.precedes(last) == true }) ?? true
                else { throw PageRejection(violation: .cursor, issues: []) }
            } else {
                guard let next = page.nextAfter ?? last, after.map({ $0.precedes(next) == true }) ?? true else {
                    throw PageRejection(violation: .cursor, issues: [])
                }
            }
        }
        pages += 1
        pagesOfChunk += 1
        if let askedAt { firstAsked = min(firstAsked ?? askedAt, askedAt) }
        let greatest = dialect.isDescending ? page.changes.first?.id : last
        if pages == 1 { firstTop = greatest }
        if let greatest, top?.precedes(greatest) ?? true { top = greatest }
        let interrupted = interruption
        let more = hasMore && !bootstrapHasSeenEnough(last)
        if more {
            if dialect.isDescending { before = last } else { after = page.nextAfter ?? last }
            if isLast || pagesOfChunk >= pageCap, mode == .poll, hasAdvanced { stopped = true }
        } else {
            chunk += 1
            pagesOfChunk = 0
            (after, before) = (lowerEnd, nil)
            isComplete = chunk == chunkCount
        }
        return Plan(
            changes: page.changes,
            cursor: cursorMove(more: more),
            walk: openWalk(more: more),
            interrupted: interrupted
        )
    }

    /// Ends the walk early: the outbox has no room for more.
    public mutating func stop() {
        stopped = true
        isComplete = false
    }

    /// Up to where the stream is known when the walk is complete; `nil` when nothing was seen.
    public var settled: JWTID? { top.map { .least($0, cap) } }

    /// How far the cursor may move; `nil`: without end, because it was all seen at one moment.
    private var cap: JWTID? {
        guard chunkCount > 1 || pages > 1 && !dialect.isDescending, let firstAsked, let top else { return nil }
        let cap = JWTID.floor(top.kind, at: firstAsked)
        guard chunkCount == 1, let firstTop, cap.precedes(firstTop) == true else { return cap }
        return firstTop
    }

    /// Whether the next cycle would go on from here. Ascending pages below the cursor are only the overlap: a cycle
    /// that ended among them would be repeated for ever. Only an item shows it: the server's own next cursor may lie
    /// above ours with nothing between the two. A walk over split plans always begins again, and one that ended early
    /// would never come to the last of them.
    private var hasAdvanced: Bool {
        guard chunkCount == 1, !mustComplete else { return false }
        guard !dialect.isDescending, let cursor, let settled else { return true }
        return cursor.precedes(settled) == true
    }

    /// Whether an interrupted walk was finished by this one, so that newer changes remain to be asked for.
    public var wasResumed: Bool { resumed != nil }

    /// Whether a page that does not say so may be followed by another: it is full, and only `pagination` can say of a full
    /// page that it is the last. Were it believed, a descending walk would be complete, and the cursor pass over the rest.
    private func mayHideMore(_ page: Page) -> Bool {
        page.fetched >= asked && (dialect.isDescending || !page.hasPagination)
    }

    /// Bootstrapping needs the newest identifier and what a later poll may find again below it.
    private func bootstrapHasSeenEnough(_ last: JWTID?) -> Bool {
        guard mode == .bootstrap, dialect.isDescending, let last, let top else { return false }
        return last.precedes(dialect.bootstrapFloor(below: top)) == true
    }

    private func cursorMove(more: Bool) -> CursorMove {
        if !dialect.isDescending && chunkCount == 1 { return .followItems(upTo: cap) }
        guard isComplete, !more, let settled else { return .unchanged }
        return .advance(to: settled)
    }

    /// Where to go on when this page finds no room at all; its `before` gives way to the last item that found some.
    private var interruption: OpenWalk? {
        guard dialect.isDescending, chunkCount == 1, mode == .poll, let top else { return nil }
        return OpenWalk(top: top, before: before ?? top, after: after)
    }

    private func openWalk(more: Bool) -> OpenWalk? {
        guard more, dialect.isDescending, chunkCount == 1, mode == .poll, let top, let before else { return nil }
        return OpenWalk(top: top, before: before, after: after)
    }
}
