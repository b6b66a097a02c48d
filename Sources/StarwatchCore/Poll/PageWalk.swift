/// Decides which pages one cycle fetches, and how each commit moves the fetch cursor.
///
/// Ascending pages move the cursor with every commit. Descending pages run from the newest to the oldest, so the cursor
/// moves only when the walk is complete. The store keeps the position of an interrupted walk, and the next cycle
/// continues from there. If the plan identifiers are split over several requests, the cursor moves only after the last
/// request.
///
/// With split requests or several ascending pages, the cursor stays at or below the server's time of the first request.
/// While a later request runs, a plan of an earlier request can change, or a late item can appear below a fetched page.
/// The next cycle's overlap fetches the newer items again. The first ascending page is a consistent view, so the cursor
/// follows it regardless of clocks.
public struct PageWalk: Sendable {
    /// The purpose of the walk.
    public enum Mode: Sendable, Hashable {
        case poll
        /// Finds the newest identifier and announces nothing.
        case bootstrap
    }

    /// One request of the walk.
    public struct Step: Sendable, Hashable {
        /// The index of the chunk of plan identifiers.
        public let chunk: Int
        public let query: PageQuery
    }

    /// The commit of one page.
    public struct Plan: Sendable, Hashable {
        public let changes: [FetchedChange]
        public let cursor: CursorMove
        /// The interrupted walk to store with the page; `nil` clears it.
        public let walk: OpenWalk?
        /// The walk to store if the page finds no room. It continues below the last item that did. `nil` for none.
        public let interrupted: OpenWalk?
        /// The greatest item, if the cursor passes one that is not among the changes; `nil` otherwise.
        public let passed: JWTID?
    }

    public let dialect: Dialect
    public let mode: Mode
    /// The largest number of pages per cycle, if the next cycle can continue the walk.
    public let pageCap: Int
    /// Whether the walk must reach its end in this cycle. After an eviction the cursor stays below the dropped rows
    /// until the server sends them again, or has none. A walk that stops early would then repeat forever.
    public var mustComplete = false

    /// The exclusive lower end of the walk: the cursor minus the late-visibility overlap, unless the cursor is settled;
    /// `nil` means the beginning.
    public let lowerEnd: JWTID?
    /// The largest identifier seen.
    public private(set) var top: JWTID?
    /// Whether the walk reached the end of the stream.
    public private(set) var isComplete = false
    public private(set) var pages = 0

    private let chunkCount: Int
    private var chunk = 0
    private var pagesOfChunk = 0
    /// The number of items that the last request asked for.
    private var asked: Int
    private var after: JWTID?
    private var before: JWTID?
    /// The earliest request time. A cached answer can be older than the first one.
    private var firstAsked: Timestamp?
    /// The largest identifier of the first page.
    private var firstTop: JWTID?
    /// Whether several requests brought a page that has no order of its own, so that none shows all up to an identifier.
    private var isJoined = false
    /// The earliest server's time at which a page can have been read; `nil` if it is unknown for one of them.
    private var readSince: Timestamp? = Timestamp(milliseconds: .max)
    private var stopped = false
    private let resumed: OpenWalk?
    private let cursor: JWTID?

    /// Creates a walk.
    ///
    /// - Parameters:
    ///   - cursor: The stored fetch cursor; `nil` starts from the beginning.
    ///   - resume: An interrupted walk to finish first; ignored if the plans are split over several requests.
    ///   - chunks: The number of requests that the plan identifiers are split into; at least 1.
    ///   - isSettled: Whether an earlier walk had the cursor as its ``settledCursor``.
    ///   - seenUntil: ``SeenHorizon/time``. A server whose clock was ahead leaves a cursor in the future, and later
    ///     identifiers below it.
    public init(
        dialect: Dialect,
        mode: Mode,
        cursor: JWTID?,
        resume: OpenWalk?,
        chunks: Int,
        pageCap: Int = 50,
        isSettled: Bool = false,
        seenUntil: Timestamp? = nil
    ) {
        (self.dialect, self.mode, self.pageCap, self.chunkCount) = (dialect, mode, pageCap, chunks)
        self.cursor = cursor
        self.asked = dialect.pageSize
        var lowerEnd = isSettled ? cursor : cursor.map(dialect.overlap(below:))
        if let end = lowerEnd, let unseen = seenUntil.map({ $0 - dialect.lateVisibility }), unseen < end.timestamp {
            lowerEnd = .floor(dialect.idKind, at: unseen)
        }
        self.lowerEnd = lowerEnd
        self.after = lowerEnd
        self.resumed = chunks == 1 && dialect.isDescending && mode == .poll ? resume : nil
        if let resumed {
            self.top = resumed.top
            self.before = resumed.before
            self.after = resumed.after
        }
    }

    /// The next request; `nil` when the walk has ended, complete or not.
    public mutating func next(limit: Int?) -> Step? {
        guard !stopped, !isComplete, chunk < chunkCount else { return nil }
        let limit = dialect == .canonical ? min(limit ?? dialect.pageSize, dialect.pageSize) : nil
        asked = limit ?? dialect.pageSize
        return Step(chunk: chunk, query: PageQuery(after: after, before: before, limit: limit))
    }

    /// Takes a page and returns its commit.
    ///
    /// - Parameters:
    ///   - askedAt: The server's time of the request, as a lower bound; `nil` if unknown.
    ///   - readSince: The earliest time, by the server's own clock, at which it can have read the page; `nil` if
    ///     unknown.
    ///   - isLast: Whether to stop after this page if the next cycle can continue from here.
    /// - Throws: ``PageRejection`` if the page does not move the walk, which would loop forever.
    public mutating func receive(
        _ page: Page,
        askedAt: Timestamp?,
        readSince: Timestamp? = nil,
        isLast: Bool = false
    ) throws(PageRejection) -> Plan {
        let last = dialect.isDescending ? page.least : page.greatest
        let hasMore = page.hasMore || !page.isWhole && mayHideMore(page)
        if hasMore {
            if dialect.isDescending {
                // The server's next page lies below the last item, which must lie below the previous last item.
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
        self.readSince = self.readSince.flatMap { earliest in readSince.map { min(earliest, $0) } }
        let greatest = page.greatest
        if pages == 1, !page.isJoined { firstTop = greatest }
        isJoined = isJoined || page.isJoined
        if let greatest, top?.precedes(greatest) ?? true { top = greatest }
        // The walk to continue if this page finds no room at all. Its `before` is replaced by the last item that found
        // room.
        let interrupted = openWalk(before: before ?? top)
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
            walk: more ? openWalk(before: before) : nil,
            interrupted: interrupted,
            passed: page.refused.isEmpty && page.leftOut == nil ? nil : greatest
        )
    }

    /// Stops the walk early because the outbox has no room.
    public mutating func stop() {
        stopped = true
        isComplete = false
    }

    /// The part of the server's time that the walk has not seen; `nil` if it is complete, or its beginning is not known.
    ///
    /// - Parameter now: The server's time.
    public func unseen(now: Timestamp) -> Duration? {
        guard !isComplete else { return nil }
        if dialect.isDescending { return before.flatMap { end in lowerEnd.map { end.timestamp - $0.timestamp } } }
        return (top ?? cursor).map { max(.zero, now - $0.timestamp) }
    }

    /// The end of the range known after a complete walk; `nil` if no item was seen.
    public var settled: JWTID? { top.map { .least($0, cap) } }

    /// The cursor below which nothing can appear any more; `nil` if something still can.
    ///
    /// A change becomes visible at most ``Dialect/lateVisibility`` after the time in its identifier. If the server read
    /// every page later than that, by its own clock, the walk has seen all up to the cursor, and the next one needs no
    /// overlap. The first pages of a resumed walk were read by an earlier cycle, at a time that is not known.
    ///
    /// Only for the descending dialect. Its pages have no limit, so the overlap alone would repeat the last burst of
    /// changes with every poll.
    public var settledCursor: JWTID? {
        guard isComplete, resumed == nil, dialect.isDescending, mode == .poll, let readSince else { return nil }
        guard
            let newest = settled.flatMap({ top in cursor.map { $0.precedes(top) == false ? $0 : top } ?? top })
                ?? cursor
        else { return nil }
        return newest.timestamp + dialect.lateVisibility < readSince ? newest : nil
    }

    /// The upper limit of the cursor; `nil` means none, because one consistent page showed everything.
    private var cap: JWTID? {
        guard chunkCount > 1 || isJoined || pages > 1 && !dialect.isDescending, let firstAsked, let top else {
            return nil
        }
        let cap = JWTID.floor(top.kind, at: firstAsked)
        guard chunkCount == 1, let firstTop, cap.precedes(firstTop) == true else { return cap }
        return firstTop
    }

    /// Whether the next cycle can continue from here instead of repeating this one.
    ///
    /// Ascending pages below the cursor are only the overlap; a cycle that stops among them would repeat forever. Only
    /// an item proves progress, because the server's next cursor can be above ours with nothing in between. A walk over
    /// split plans always starts again, so one that stops early would never reach the last chunk.
    private var hasAdvanced: Bool {
        guard chunkCount == 1, !mustComplete else { return false }
        guard !dialect.isDescending, let cursor, let settled else { return true }
        return cursor.precedes(settled) == true
    }

    /// Whether the walk finished an interrupted one, so that newer changes remain to be fetched.
    public var wasResumed: Bool { resumed != nil }

    /// Whether another page can follow although the answer does not say so. Only `pagination` proves that a full page
    /// is the last. Otherwise a descending walk would end early and the cursor would skip the rest.
    private func mayHideMore(_ page: Page) -> Bool {
        page.fetched >= asked && (dialect.isDescending || !page.hasPagination)
    }

    /// Whether bootstrapping has the newest identifier and everything that a later poll can find below it.
    private func bootstrapHasSeenEnough(_ last: JWTID?) -> Bool {
        guard mode == .bootstrap, dialect.isDescending, let last, let top else { return false }
        return last.precedes(dialect.bootstrapFloor(below: top)) == true
    }

    private func cursorMove(more: Bool) -> CursorMove {
        if !dialect.isDescending && chunkCount == 1 { return .followItems(upTo: cap) }
        guard isComplete, !more, let settled else { return .unchanged }
        return .advance(to: settled)
    }

    private func openWalk(before: JWTID?) -> OpenWalk? {
        guard dialect.isDescending, chunkCount == 1, mode == .poll, let top = settled, let before else { return nil }
        return OpenWalk(top: top, before: before, after: after)
    }
}

/// The position of an interrupted walk over descending pages, from which the next cycle continues.
///
/// Stored in the transaction of the page. The fetch cursor moves to ``top`` when the walk is complete.
public struct OpenWalk: Sendable, Hashable, Codable {
    /// The largest identifier of the walk's first page.
    public let top: JWTID
    /// The upper end of the next page. Identifiers at or above it are handled.
    public let before: JWTID
    /// The exclusive lower end of the walk; `nil` means the beginning.
    public let after: JWTID?

    public init(top: JWTID, before: JWTID, after: JWTID?) {
        (self.top, self.before, self.after) = (top, before, after)
    }
}

/// The effect of a page's commit on the fetch cursor, which only rises.
public enum CursorMove: Sendable, Hashable {
    /// The walk is incomplete, so the cursor stays.
    case unchanged
    /// Ascending pages: the cursor follows the last handled item, but not above `upTo`; `nil` means no limit.
    case followItems(upTo: JWTID?)
    /// The walk is complete. The cursor moves here if every item of the page found room.
    case advance(to: JWTID)

    /// The target of the cursor; `nil` if it stays.
    ///
    /// - Parameter last: The last handled item of the page; `nil` if there is none.
    public func target(last: JWTID?) -> JWTID? {
        switch self {
        case .unchanged: nil
        case .advance(let to): to
        case .followItems(let end): last.map { JWTID.least($0, end) }
        }
    }
}

extension JWTID {
    /// The smaller of two identifiers. `other` is ignored if it is `nil` or of another kind.
    static func least(_ id: JWTID, _ other: JWTID?) -> JWTID {
        guard let other, other.precedes(id) == true else { return id }
        return other
    }
}
