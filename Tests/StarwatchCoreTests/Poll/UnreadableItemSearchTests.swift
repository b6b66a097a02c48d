import Testing

@testable import StarwatchCore

/// A small simulated server with an item that makes its page unreadable.
@Suite struct UnreadableItemSearchTests {
    private static let start: Int64 = 1_767_225_600
    private static let latest = Timestamp(seconds: start + 7200)

    private func id(_ number: Int, _ dialect: Dialect) -> JWTID {
        let first = JWTID.floor(dialect.idKind, at: Timestamp(seconds: Self.start + Int64(number) * 7))
        return JWTID(first.rawValue.dropLast() + "1")!
    }

    /// The place of an item as a search tells it: one unit of the time in identifiers.
    private func place(_ number: Int, _ dialect: Dialect) -> RefusedItem.Span {
        let time = id(number, dialect).timestamp
        let unit: Duration = dialect.idKind == .ulid ? .milliseconds(1) : .seconds(1)
        return .init(.floor(dialect.idKind, at: time), .floor(dialect.idKind, at: time + unit))
    }

    /// A page; `nil` if the item `bad` is on it.
    private func page(_ query: PageQuery, _ items: [JWTID], bad: JWTID?, _ dialect: Dialect) -> Page? {
        var found = items.filter { item in
            (query.after.map { $0.precedes(item) == true } ?? true)
                && (query.before.map { item.precedes($0) == true } ?? true)
        }
        if dialect.isDescending { found.reverse() }
        let more = found.count > 5
        found = Array(found.prefix(5))
        if let bad, found.contains(bad) { return nil }
        return Page(
            changes: found.map { FetchedChange(Change(id: $0, plan: "p", name: nil)) },
            hasMore: more,
            nextAfter: nil,
            fetched: found.count,
            reordered: false
        )
    }

    /// Walks over all pages, and searches on those that are unreadable.
    private func walk(
        _ items: [JWTID],
        bad: JWTID?,
        cursor: JWTID?,
        _ dialect: Dialect
    ) throws -> (seen: [JWTID], requests: Int, walk: PageWalk) {
        var walk = PageWalk(dialect: dialect, mode: .poll, cursor: cursor, resume: nil, chunks: 1, isSettled: true)
        var (seen, requests): ([JWTID], Int) = ([], 0)
        var known: RefusedItem.Span?
        while let step = walk.next(limit: 5) {
            requests += 1
            var answer = page(step.query, items, bad: bad, dialect)
            if answer == nil {
                var search = UnreadableItemSearch(step.query, dialect: dialect, latest: Self.latest, known: known)
                var readable: Page?
                while let query = search.next {
                    requests += 1
                    let found = page(query, items, bad: bad, dialect)
                    if let found { readable = found }
                    search.receive(isReadable: found != nil)
                }
                guard case .item(let item) = search.end, let readable else { break }
                #expect(item.issues.map(\.problem) == [.unreadable])
                known = item.span
                answer = search.page(readable, with: item)
            }
            seen += try walk.receive(try #require(answer), askedAt: nil).changes.map(\.id)
        }
        return (seen.sorted { $0.rawValue < $1.rawValue }, requests, walk)
    }

    @Test(arguments: Dialect.allCases, [1, 5, 6, 12, 17])
    func oneItemIsFoundAndAllOthersAreRead(dialect: Dialect, bad: Int) throws {
        let items = (1...17).map { id($0, dialect) }
        for cursor in [nil, id(0, dialect)] {
            let result = try walk(items, bad: items[bad - 1], cursor: cursor, dialect)
            #expect(result.seen == items.filter { $0 != items[bad - 1] })
            #expect(result.walk.isComplete)
            // The cursor passes the item, even the newest.
            let top = try #require(result.walk.top)
            #expect(items[16].precedes(top) == true || items[16] == top)
            #expect(result.requests < 60)
        }
    }

    @Test(arguments: Dialect.allCases)
    func aServerThatBreaksEveryAnswerHasNoSuchItem(dialect: Dialect) {
        var search = UnreadableItemSearch(PageQuery(after: nil), dialect: dialect, latest: Self.latest)
        #expect(search.next != nil)
        search.receive(isReadable: false)
        #expect(search.end == .everything && search.next == nil)
    }

    /// A proxy that broke one answer leaves nothing to set aside.
    @Test(arguments: Dialect.allCases, [false, true])
    func anItemThatIsGoneIsNotSetAside(dialect: Dialect, isKnown: Bool) throws {
        let known = isKnown ? place(2, dialect) : nil
        var search = UnreadableItemSearch(PageQuery(after: nil), dialect: dialect, latest: Self.latest, known: known)
        var requests = 0
        while search.next != nil {
            requests += 1
            search.receive(isReadable: true)
        }
        #expect(search.end == .nothing)
        #expect(requests < 50)
    }

    @Test(arguments: Dialect.allCases, [3, 4])
    func aKnownPlaceIsTriedFirst(dialect: Dialect, bad: Int) throws {
        let items = (1...5).map { id($0, dialect) }
        let query = PageQuery(after: id(0, dialect))
        let known = place(3, dialect)
        var search = UnreadableItemSearch(query, dialect: dialect, latest: Self.latest, known: known)
        var requests = 0
        while let query = search.next {
            requests += 1
            search.receive(isReadable: page(query, items, bad: items[bad - 1], dialect) != nil)
        }
        guard case .item(let item) = search.end else {
            Issue.record("\(String(describing: search.end))")
            return
        }
        #expect(item.span?.lower.timestamp == items[bad - 1].timestamp)
        #expect(bad != 3 || requests == 2)
    }

    /// A long wait for the rate limit ends a search. The next one asks for what is left, and once more for what it knows.
    @Test(arguments: Dialect.allCases, 0..<12)
    func anInterruptedSearchContinues(dialect: Dialect, interruptedAfter: Int) throws {
        let items = (1...17).map { id($0, dialect) }
        // One of the five items of the first page.
        let bad = items[dialect.isDescending ? 13 : 3]
        let query = PageQuery(after: id(0, dialect))
        func search(_ search: UnreadableItemSearch, upTo most: Int) -> (UnreadableItemSearch, requests: Int) {
            var (search, requests) = (search, 0)
            while requests < most, let next = search.next {
                requests += 1
                search.receive(isReadable: page(next, items, bad: bad, dialect) != nil)
            }
            return (search, requests)
        }
        let new = UnreadableItemSearch(query, dialect: dialect, latest: Self.latest)
        let whole = search(new, upTo: .max)
        let (first, made) = search(new, upTo: interruptedAfter)
        #expect((first.place == nil) == (interruptedAfter == 0))
        let again = UnreadableItemSearch(query, dialect: dialect, latest: Self.latest, known: first.place)
        let (second, left) = search(again, upTo: .max)
        #expect(second.end == whole.0.end)
        #expect(made + left <= whole.requests + 1)
    }

    @Test(arguments: Dialect.allCases)
    func theFirstRequestHasNoItems(dialect: Dialect) throws {
        let items = (1...3).map { id($0, dialect) }
        for query in [PageQuery(after: nil), PageQuery(after: items[0]), PageQuery(after: nil, before: items[2])] {
            let search = UnreadableItemSearch(query, dialect: dialect, latest: Self.latest)
            #expect(page(try #require(search.next), items, bad: nil, dialect)?.changes.isEmpty == true)
        }
    }

    @Test func theSameItemHasTheSameFingerprint() throws {
        func item(_ query: PageQuery) -> RefusedItem? {
            var search = UnreadableItemSearch(query, dialect: .endorser, latest: Self.latest)
            let bad = id(3, .endorser)
            while let next = search.next {
                search.receive(isReadable: page(next, [bad], bad: bad, .endorser) != nil)
            }
            guard case .item(let item) = search.end else { return nil }
            return item
        }
        let first = try #require(item(PageQuery(after: nil)))
        #expect(item(PageQuery(after: id(1, .endorser)))?.fingerprint == first.fingerprint)
    }
}
