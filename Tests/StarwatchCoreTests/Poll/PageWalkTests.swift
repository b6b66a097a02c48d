import Testing

@testable import StarwatchCore

/// A small simulated server, and walks over its pages.
@Suite struct PageWalkTests {
    private func id(_ number: Int, _ dialect: Dialect) -> JWTID {
        JWTID.floor(dialect.idKind, at: Timestamp(seconds: 1_767_225_600 + Int64(number) * 60))
    }

    /// The server's answer: ascending from a cursor, or descending with at most `size` items.
    private func answer(_ query: PageQuery, items: [JWTID], dialect: Dialect, size: Int) -> Page {
        var found = items.filter { item in
            (query.after.map { $0.precedes(item) == true } ?? true)
                && (query.before.map { item.precedes($0) == true } ?? true)
        }
        found.sort { $0.rawValue < $1.rawValue }
        if dialect.isDescending { found.reverse() }
        let size = min(size, query.limit ?? size)
        let more = found.count > size
        let changes = found.prefix(size).map { FetchedChange(Change(id: $0, plan: "p", name: nil)) }
        return page(changes, more: more, next: more && !dialect.isDescending ? changes.last?.id : nil)
    }

    private func page(_ changes: [FetchedChange], more: Bool, next: JWTID?) -> Page {
        Page(
            changes: changes,
            hasMore: more,
            nextAfter: next,
            fetched: changes.count,
            reordered: false
        )
    }

    @Test(arguments: Dialect.allCases, [nil, 20])
    func everyItemAfterTheCursorIsFetchedOnce(dialect: Dialect, cursor: Int?) throws {
        let items = (1...100).map { id($0, dialect) }
        var walk = PageWalk(
            dialect: dialect,
            mode: .poll,
            cursor: cursor.map { id($0, dialect) },
            resume: nil,
            chunks: 1
        )
        var seen: [JWTID] = []
        var moves: [CursorMove] = []
        while let step = walk.next(limit: nil) {
            let plan = try walk.receive(answer(step.query, items: items, dialect: dialect, size: 7), askedAt: nil)
            seen += plan.changes.map(\.id)
            moves.append(plan.cursor)
        }
        #expect(walk.isComplete)
        // The overlap returns the cursor's own item again.
        #expect(seen.sorted { $0.rawValue < $1.rawValue } == Array(items.dropFirst(cursor.map { $0 - 1 } ?? 0)))
        if dialect.isDescending {
            #expect(moves.dropLast().allSatisfy { $0 == .unchanged })
            #expect(moves.last == .advance(to: id(100, dialect)))
        } else {
            #expect(moves.allSatisfy { $0 == .followItems(upTo: nil) })
        }
    }

    @Test func anInterruptedDescendingWalkContinues() throws {
        let items = (1...100).map { id($0, .endorser) }
        var first = PageWalk(dialect: .endorser, mode: .poll, cursor: nil, resume: nil, chunks: 1, pageCap: 3)
        var seen: [JWTID] = []
        var stored: OpenWalk?
        while let step = first.next(limit: nil) {
            let plan = try first.receive(
                answer(step.query, items: items, dialect: .endorser, size: 10),
                askedAt: nil
            )
            seen += plan.changes.map(\.id)
            stored = plan.walk
            #expect(plan.cursor == .unchanged)
        }
        #expect(!first.isComplete && seen.count == 30)
        let resume = try #require(stored)
        var second = PageWalk(dialect: .endorser, mode: .poll, cursor: nil, resume: resume, chunks: 1)
        // A new item appeared in between.
        let more = items + [id(101, .endorser)]
        var last: CursorMove?
        while let step = second.next(limit: nil) {
            let plan = try second.receive(
                answer(step.query, items: more, dialect: .endorser, size: 10),
                askedAt: nil
            )
            seen += plan.changes.map(\.id)
            last = plan.cursor
        }
        #expect(second.isComplete && second.wasResumed)
        #expect(last == .advance(to: id(100, .endorser)))
        #expect(Set(seen) == Set(items) && seen.count == 100)
    }

    @Test(arguments: Dialect.allCases)
    func aWalkOutOfTimeEndsWhereTheNextCycleContinues(dialect: Dialect) throws {
        let items = (1...100).map { id($0, dialect) }
        var walk = PageWalk(dialect: dialect, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        var pages = 0
        while let step = walk.next(limit: nil) {
            let page = answer(step.query, items: items, dialect: dialect, size: 10)
            pages += 1
            let plan = try walk.receive(page, askedAt: nil, isLast: pages == 3)
            #expect(plan.cursor == (dialect.isDescending ? .unchanged : .followItems(upTo: nil)))
            #expect((plan.walk != nil) == dialect.isDescending)
        }
        #expect(pages == 3 && !walk.isComplete)
        // A walk over split plans starts again in every cycle, so stopping early would never reach the last chunk.
        var split = PageWalk(dialect: dialect, mode: .poll, cursor: nil, resume: nil, chunks: 2)
        while let step = split.next(limit: nil) {
            _ = try split.receive(
                answer(step.query, items: items, dialect: dialect, size: 10),
                askedAt: nil,
                isLast: true
            )
        }
        #expect(split.isComplete)
    }

    /// The server, or a gateway, declares every page the last one. The cursor stays below the evicted rows, so a walk
    /// that stops early would repeat for ever.
    @Test(arguments: Dialect.allCases, [1, 3])
    func aFullPageIsNeverTheLastWithoutPagination(dialect: Dialect, chunks: Int) throws {
        let items = (1...250).map { id($0, dialect) }
        var walk = PageWalk(dialect: dialect, mode: .poll, cursor: id(1, dialect), resume: nil, chunks: chunks)
        var seen: Set<JWTID> = []
        while let step = walk.next(limit: nil) {
            let own = items.enumerated().filter { $0.offset % chunks == step.chunk }.map(\.element)
            let told = answer(step.query, items: own, dialect: dialect, size: dialect.pageSize)
            let page = page(told.changes, more: false, next: nil)
            seen.formUnion(try walk.receive(page, askedAt: nil).changes.map(\.id))
        }
        #expect(walk.isComplete && seen == Set(items))
    }

    @Test func paginationCanDeclareAFullPageTheLast() throws {
        var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        _ = walk.next(limit: 2)
        let changes = (1...2).map { FetchedChange(Change(id: id($0, .canonical), plan: "p", name: nil)) }
        var full = page(changes, more: false, next: nil)
        full.hasPagination = true
        _ = try walk.receive(full, askedAt: nil)
        #expect(walk.isComplete)
    }

    @Test func anAscendingPageWithoutProgressIsRejected() throws {
        var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        for isAgain in [false, true] {
            _ = walk.next(limit: 2)
            let same = page([FetchedChange(Change(id: id(1, .canonical), plan: "p", name: nil))], more: true, next: nil)
            if isAgain {
                #expect(throws: PageRejection.self) { try walk.receive(same, askedAt: nil) }
            } else {
                _ = try walk.receive(same, askedAt: nil)
            }
        }
        #expect(throws: PageRejection.self) { try walk.receive(page([], more: true, next: nil), askedAt: nil) }
    }

    @Test(arguments: Dialect.allCases)
    func aWalkOverTombstonesReachesItsEnd(dialect: Dialect) throws {
        let items = (1...100).map { id($0, dialect) }
        var walk = PageWalk(
            dialect: dialect,
            mode: .poll,
            cursor: nil,
            resume: nil,
            chunks: 1,
            pageCap: 3
        )
        walk.mustComplete = true
        while let step = walk.next(limit: nil) {
            let page = answer(step.query, items: items, dialect: dialect, size: 10)
            _ = try walk.receive(page, askedAt: nil, isLast: true)
        }
        #expect(walk.isComplete && walk.pages == 10)
    }

    /// Every cycle begins with the overlap, so one that ends within it would repeat for ever. Some servers point behind
    /// the page's last item, and so behind a cursor at that item.
    @Test(arguments: [false, true])
    func aCyclePassesItsCursorBeforeItEnds(serverPointsBehindTheLast: Bool) throws {
        func second(_ number: Int, suffix: String = "00000000") -> JWTID {
            JWTID("176722560\(number / 10)_\(String(repeating: "\(number % 10)", count: 6))_\(suffix)")!
        }
        let items = (0..<60).map { second($0) }
        var cursor = second(45)
        var cycles = 0
        while cursor != items.last, cycles < 30 {
            var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: cursor, resume: nil, chunks: 1, pageCap: 5)
            while let step = walk.next(limit: nil) {
                var page = answer(step.query, items: items, dialect: .canonical, size: 1)
                if serverPointsBehindTheLast, page.hasMore,
                    let index = page.changes.last.map({ items.firstIndex(of: $0.id)! })
                {
                    page = self.page(page.changes, more: true, next: second(index, suffix: "00000001"))
                }
                let plan = try walk.receive(page, askedAt: nil)
                if let last = plan.changes.last?.id, cursor.precedes(last) == true { cursor = last }
            }
            cycles += 1
        }
        #expect(cursor == items.last)
    }

    /// The walk cannot be resumed, so the plans of the last chunk would never be fetched.
    @Test(arguments: Dialect.allCases)
    func aWalkOverSplitPlansReachesTheLastChunk(dialect: Dialect) throws {
        let items = (1...60).map { id($0, dialect) }
        var walk = PageWalk(dialect: dialect, mode: .poll, cursor: nil, resume: nil, chunks: 2, pageCap: 5)
        var asked: Set<Int> = []
        while let step = walk.next(limit: nil) {
            asked.insert(step.chunk)
            _ = try walk.receive(answer(step.query, items: items, dialect: dialect, size: 5), askedAt: nil)
        }
        #expect(asked == [0, 1])
        #expect(walk.isComplete)
    }

    @Test func aWalkWithoutRoomIsIncomplete() throws {
        let items = (1...20).map { id($0, .endorser) }
        var walk = PageWalk(dialect: .endorser, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        let asked = walk.next(limit: nil)
        let step = try #require(asked)
        let plan = try walk.receive(answer(step.query, items: items, dialect: .endorser, size: 10), askedAt: nil)
        #expect(plan.walk == OpenWalk(top: id(20, .endorser), before: id(11, .endorser), after: nil))
        // The store replaces `before` with the last item that found room.
        #expect(plan.interrupted == OpenWalk(top: id(20, .endorser), before: id(20, .endorser), after: nil))
        walk.stop()
        let further = walk.next(limit: nil)
        #expect(further == nil && !walk.isComplete)
    }

    @Test(arguments: Dialect.allCases)
    func aPageThatDoesNotMoveIsAViolation(dialect: Dialect) throws {
        let change = FetchedChange(Change(id: id(5, dialect), plan: "p", name: nil))
        let same = page([change], more: true, next: dialect.isDescending ? nil : change.id)
        var walk = PageWalk(dialect: dialect, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        _ = try walk.receive(same, askedAt: nil)
        let error = #expect(throws: PageRejection.self) { try walk.receive(same, askedAt: nil) }
        #expect(error?.violation == .cursor)
    }

    @Test(arguments: Dialect.allCases)
    func overSeveralRequestsTheCursorStopsAtTheFirstAnswer(dialect: Dialect) throws {
        let items = (1...30).map { id($0, dialect) }
        let firstAnswer = id(10, dialect).timestamp + .seconds(30)
        var walk = PageWalk(dialect: dialect, mode: .poll, cursor: nil, resume: nil, chunks: 2)
        var moves: [CursorMove] = []
        var chunks: [Int] = []
        while let step = walk.next(limit: nil) {
            chunks.append(step.chunk)
            let time = firstAnswer + .seconds(Int64(moves.count) * 600)
            moves.append(
                try walk.receive(answer(step.query, items: items, dialect: dialect, size: 20), askedAt: time).cursor
            )
        }
        #expect(chunks == [0, 0, 1, 1])
        #expect(
            moves == [.unchanged, .unchanged, .unchanged, .advance(to: JWTID.floor(dialect.idKind, at: firstAnswer))]
        )
    }

    /// While a later page is read, an item can appear below the last item of an earlier page.
    @Test func overSeveralAscendingPagesTheCursorStopsAtTheFirstAnswerToo() throws {
        let items = (1...30).map { id($0, .canonical) }
        let firstAnswer = id(20, .canonical).timestamp + .seconds(30)
        let end = JWTID.floor(Dialect.canonical.idKind, at: firstAnswer)
        var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        var moves: [CursorMove] = []
        while let step = walk.next(limit: nil) {
            let time = firstAnswer + .seconds(Int64(moves.count) * 600)
            let page = answer(step.query, items: items, dialect: .canonical, size: 10)
            moves.append(try walk.receive(page, askedAt: time).cursor)
        }
        #expect(moves == [.followItems(upTo: nil), .followItems(upTo: end), .followItems(upTo: end)])
        #expect(walk.settled == end && walk.top == id(30, .canonical))
        #expect(moves[1].target(last: id(20, .canonical)) == id(20, .canonical))
        #expect(moves[2].target(last: id(30, .canonical)) == end)
    }

    /// The first page is a consistent view, whatever the time of a clock or a cache.
    @Test func theCursorFollowsTheFirstAscendingPageRegardlessOfClocks() throws {
        let items = (1...30).map { id($0, .canonical) }
        var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        var moves: [CursorMove] = []
        while let step = walk.next(limit: nil) {
            let page = answer(step.query, items: items, dialect: .canonical, size: 10)
            let time = id(moves.isEmpty ? 30 : 2, .canonical).timestamp
            moves.append(try walk.receive(page, askedAt: time).cursor)
        }
        let first = CursorMove.followItems(upTo: id(10, .canonical))
        #expect(moves == [.followItems(upTo: nil), first, first])
    }

    /// Otherwise the next cycle would end there too.
    @Test func aWalkOutOfTimeContinuesUntilItsCursorMoves() throws {
        let items = (1...30).map { id($0, .canonical) }
        let cursor = id(5, .canonical)
        var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: cursor, resume: nil, chunks: 1)
        while let step = walk.next(limit: nil) {
            let page = answer(step.query, items: items, dialect: .canonical, size: 1)
            _ = try walk.receive(page, askedAt: cursor.timestamp, isLast: true)
        }
        #expect(walk.isComplete && walk.pages == 26)
    }

    @Test(arguments: Dialect.allCases)
    func bootstrappingFindsTheNewest(dialect: Dialect) throws {
        let items = (1...100).map { id($0, dialect) }
        var walk = PageWalk(dialect: dialect, mode: .bootstrap, cursor: nil, resume: nil, chunks: 1)
        while let step = walk.next(limit: nil) {
            _ = try walk.receive(answer(step.query, items: items, dialect: dialect, size: 7), askedAt: nil)
        }
        #expect(walk.isComplete && walk.top == id(100, dialect))
        #expect(walk.pages == (dialect.isDescending ? 1 : 15))
    }

    /// One second more than the overlap of a poll, because an eviction moves the cursor below the newest change.
    @Test func bootstrappingReadsTheOverlapOfALaterPoll() throws {
        let newest = id(1, .endorser)
        let items = [0, 10_000, 30_500, 31_500, 50_000].map {
            JWTID.floor(.ulid, at: newest.timestamp - .milliseconds($0))
        }
        var walk = PageWalk(dialect: .endorser, mode: .bootstrap, cursor: nil, resume: nil, chunks: 1)
        while let step = walk.next(limit: nil) {
            _ = try walk.receive(answer(step.query, items: items, dialect: .endorser, size: 1), askedAt: nil)
        }
        #expect(walk.isComplete && walk.pages == 4)
    }

    @Test func anEmptyWalkIsCompleteAndMovesNothing() throws {
        var walk = PageWalk(dialect: .endorser, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        let plan = try walk.receive(page([], more: false, next: nil), askedAt: nil)
        #expect(walk.isComplete && plan.cursor == .unchanged && plan.walk == nil)
    }
}
