import Testing

@testable import StarwatchCore

@Suite struct ListWalkTests {
    private static let now = Timestamp(iso8601: "2026-01-02T00:00:00Z")!

    private func list(_ order: JSONPoll.Order, _ change: (inout JSONPoll) -> Void = { _ in }) -> JSONPoll {
        var list = JSONPoll()
        (list.url, list.id, list.order) = ("https://api.example.org/items", JSONPointer("/id")!, order)
        list.next = .cursor(at: JSONPointer("/next")!, parameter: "cursor")
        change(&list)
        return list
    }

    private func walk(_ list: JSONPoll, known: ListState = ListState()) -> ListWalk {
        ListWalk(list, known: known, now: Self.now)
    }

    private func page(_ ids: [String], next: String?, version: String = "1", rank: Int64? = nil) -> ListPage {
        var page = ListPage()
        page.items = ids.map { ListItem(id: $0, version: ItemVersion(version, rank: rank)) }
        page.fetched = ids.count
        page.next = next.map { .parameter(name: "cursor", value: $0) }
        return page
    }

    // MARK: - Pages

    @Test func theNewestPagesAreReadUntilOneEndsWithAKnownItem() throws {
        var walk = walk(list(.newestFirst) { $0.query = ["limit": "2", "a b": "ä"] })
        #expect(walk.next()?.url == "https://api.example.org/items?a%20b=%C3%A4&limit=2")
        try walk.receive(page(["d", "c"], next: "n1"), isLastKnown: false)
        #expect(walk.next()?.url == "https://api.example.org/items?a%20b=%C3%A4&cursor=n1&limit=2")
        try walk.receive(page(["b", "a"], next: "n2"), isLastKnown: true)
        #expect(walk.next() == nil)
        #expect(walk.commits.map { $0.items.map(\.id) } == [["a", "b"], ["c", "d"]])
        #expect(walk.commits.map(\.number) == [2, 1])
    }

    @Test(arguments: [JSONPoll.Order.oldestFirst, .none])
    func otherListsAreReadToTheEnd(order: JSONPoll.Order) throws {
        var walk = walk(list(order))
        _ = walk.next()
        try walk.receive(page(["a", "b"], next: "n1"), isLastKnown: true)
        #expect(walk.next()?.page == 2)
        try walk.receive(page(["c"], next: nil), isLastKnown: true)
        #expect(walk.next() == nil)
        #expect(walk.commits.map { $0.items.map(\.id) } == [["a", "b"], ["c"]])
    }

    @Test func aPageThatWasThereBeforeEndsTheWalkWithAReason() throws {
        var walk = walk(list(.none))
        _ = walk.next()
        try walk.receive(page(["a"], next: "n1"), isLastKnown: false)
        _ = walk.next()
        let error = #expect(throws: PageRejection.self) {
            try walk.receive(page(["a"], next: "n1"), isLastKnown: false)
        }
        #expect(error?.violation == .cursor)
        #expect(error?.sentence?.contains("Page 2") == true)
    }

    @Test func aURLThatLeadsBackEndsTheWalkToo() throws {
        var walk = walk(list(.newestFirst))
        let first = walk.next()
        var page = page(["a"], next: nil)
        page.next = first.map { .url($0.url) }
        #expect(throws: PageRejection.self) { try walk.receive(page, isLastKnown: false) }
    }

    @Test func aServerThatIgnoresThePageIsNamed() throws {
        var walk = walk(list(.none) { list in (list.next, list.maxPages) = (.number(parameter: "page", first: 1), 2) })
        for number in 1...2 {
            #expect(walk.next()?.url == "https://api.example.org/items?page=\(number)")
            var page = page(["a"], next: nil)
            page.next = .parameter(name: "page", value: "\(number + 1)")
            if number == 1 {
                try walk.receive(page, isLastKnown: false)
            } else {
                let error = #expect(throws: PageRejection.self) { try walk.receive(page, isLastKnown: false) }
                #expect(error?.sentence?.contains("next") == true && error?.sentence?.contains("max_pages") == false)
            }
        }
    }

    @Test func aNewestPageThatWasSetAsideDoesNotHideTheOnesBehindIt() throws {
        var walk = walk(list(.newestFirst))
        _ = walk.next()
        var page = page([], next: "n1")
        page.fetched = 1
        try walk.receive(page, isLastKnown: true)
        #expect(walk.next()?.page == 2)
    }

    @Test func aListThatIsTooLongInAllIsRejected() throws {
        var walk = walk(list(.newestFirst))
        _ = walk.next()
        var page = page(["a"], next: "n1")
        page.fetched = JSONPoll.largestList
        try walk.receive(page, isLastKnown: false)
        page.next = .parameter(name: "cursor", value: "n2")
        #expect(throws: PageRejection.self) { try walk.receive(page, isLastKnown: false) }
    }

    @Test func tooManyPagesAreAFailureUnlessTheNewestCome() throws {
        var whole = walk(list(.none) { $0.maxPages = 1 })
        _ = whole.next()
        let error = #expect(throws: PageRejection.self) {
            try whole.receive(page(["a"], next: "n1"), isLastKnown: false)
        }
        #expect(error?.sentence?.contains("max_pages") == true)
        var newest = walk(list(.newestFirst) { $0.maxPages = 1 })
        _ = newest.next()
        try newest.receive(page(["a"], next: "n1"), isLastKnown: false)
        #expect(newest.next() == nil && newest.isCut)
    }

    @Test func anItemThatMovedBetweenPagesIsThereOnceInItsNewestVersion() throws {
        var ranked = walk(list(.none))
        _ = ranked.next()
        try ranked.receive(page(["a", "b"], next: "n1", version: "2", rank: 2), isLastKnown: false)
        try ranked.receive(page(["b", "c"], next: nil, version: "1", rank: 1), isLastKnown: false)
        #expect(ranked.commits.flatMap(\.items).map { "\($0.id)\($0.version.text)" } == ["a2", "b2", "c1"])
        var texts = walk(list(.newestFirst))
        _ = texts.next()
        try texts.receive(page(["b", "a"], next: "n1", version: "x"), isLastKnown: false)
        try texts.receive(page(["a"], next: nil, version: "y"), isLastKnown: false)
        #expect(texts.commits.map { $0.items.map { "\($0.id)\($0.version.text)" } } == [["ay"], ["bx"]])
    }

    // MARK: - State

    private func since(_ value: SinceValue?) -> (list: JSONPoll, known: ListState) {
        let list = list(.none) { $0.since = JSONPoll.Since(parameter: "from", from: JSONPointer("/at")!) }
        var walk = walk(list)
        _ = walk.next()
        var page = page([], next: nil)
        page.since = value
        try? walk.receive(page, isLastKnown: true)
        return (list, walk.state)
    }

    @Test(arguments: [
        (SinceValue(1_767_225_600_000, .iso8601), "2025-12-31T23%3A50%3A00Z"),
        (SinceValue(1_767_225_600_000 - 500, .iso8601), "2025-12-31T23%3A49%3A59.500Z"),
        (SinceValue(1_767_225_600_000, .seconds), "1767225000"),
        (SinceValue(1_767_225_600_000, .milliseconds), "1767225000000"), (SinceValue(42, .number), "42"),
    ])
    func newerItemsAreAskedForInTheServersForm(value: SinceValue, text: String) {
        let (list, known) = since(value)
        var next = walk(list, known: known.valid(for: list))
        #expect(next.next()?.url == "https://api.example.org/items?from=\(text)")
    }

    @Test func aTimeAheadOfOursSkipsNothing() {
        let (_, known) = since(SinceValue(9_999_999_999_999, .milliseconds))
        #expect(known.since?.value == Self.now.milliseconds)
        // Stored while the clock was wrong.
        let list = list(.none) { $0.since = JSONPoll.Since(parameter: "from", from: JSONPointer("/at")!) }
        var stored = ListState()
        stored.since = SinceValue(Self.now.milliseconds + 86_400_000, .seconds)
        var next = walk(list, known: stored)
        #expect(next.next()?.url == "https://api.example.org/items?from=1767311400")
    }

    @Test func theSameValueOfSinceComesWithEachPageOfAWalk() throws {
        let (list, known) = since(SinceValue(42, .number))
        var next = walk(list, known: known)
        _ = next.next()
        var page = page(["a"], next: "n1")
        page.since = SinceValue(43, .number)
        try next.receive(page, isLastKnown: false)
        #expect(next.next()?.url == "https://api.example.org/items?cursor=n1&from=42")
        #expect(next.state.since?.value == 43)
    }

    @Test(arguments: [(42, true), (43, false)] as [(Int64, Bool)])
    func validatorsDoNotHoldForAnotherValueOfSince(value: Int64, holds: Bool) throws {
        let list = list(.none) { list in
            (list.since, list.next) = (JSONPoll.Since(parameter: "from", from: JSONPointer("/at")!), nil)
        }
        var known = ListState()
        known.since = SinceValue(42, .number)
        var walk = walk(list, known: known)
        _ = walk.next()
        walk.note(etag: "\"1\"", lastModified: nil)
        var page = page(["a"], next: nil)
        page.since = SinceValue(value, .number)
        try walk.receive(page, isLastKnown: true)
        #expect((walk.state.etag != nil) == holds)
    }

    @Test func validatorsHoldForOnePageOrTheNewestAndNeverWithItemsSetAside() throws {
        func state(_ order: JSONPoll.Order, next: JSONPoll.Next?, refused: Bool = false) throws -> ListState {
            var walk = walk(list(order) { $0.next = next })
            _ = walk.next()
            walk.note(etag: "\"1\"", lastModified: nil)
            var page = page(["a"], next: nil)
            if refused { page.refused = [RefusedItem(ValidationIssue(path: "/0", problem: .missing), fingerprint: 1)] }
            try walk.receive(page, isLastKnown: true)
            return walk.state
        }
        #expect(try state(.none, next: nil).etag != nil)
        #expect(try state(.newestFirst, next: .linkHeader).etag != nil)
        #expect(try state(.none, next: .linkHeader).etag == nil)
        #expect(try state(.none, next: nil, refused: true).etag == nil)
    }

    @Test func otherSettingsVoidWhatIsKnown() {
        let (list, known) = since(SinceValue(42, .number))
        #expect(known.valid(for: list) == known)
        var other = list
        other.query["limit"] = "9"
        #expect(known.valid(for: other) == ListState())
        other = list
        other.headersFile = "other"
        #expect(known.valid(for: other) == known)
    }
}
