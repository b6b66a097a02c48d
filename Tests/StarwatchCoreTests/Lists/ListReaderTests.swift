import Testing

@testable import StarwatchCore

@Suite struct ListReaderTests {
    private static let request = ListRequest(url: "https://api.example.org/v1/items?limit=2", page: 1)

    private func list(_ change: (inout JSONPoll) -> Void = { _ in }) -> JSONPoll {
        var list = JSONPoll()
        list.url = "https://api.example.org/v1/items"
        list.id = JSONPointer("/id")!
        change(&list)
        return list
    }

    private func read(
        _ json: String,
        setsAside: Bool = false,
        link: String? = nil,
        _ change: (inout JSONPoll) -> Void = { _ in }
    ) throws -> ListPage {
        let reader = ListReader(list(change), setsAside: setsAside)
        return try #require(reader.read(Array(json.utf8), of: Self.request, link: link)).get()
    }

    private func rejection(
        _ json: String,
        link: String? = nil,
        _ change: (inout JSONPoll) -> Void = { _ in }
    ) throws -> PageRejection {
        try #require(throws: PageRejection.self) { _ = try read(json, link: link, change) }
    }

    // MARK: - Items

    @Test func anItemHasTheValuesAtItsPlaces() throws {
        let json = """
            {"data": [{"id": 7, "at": "2026-01-02T03:04:05Z", "title": "A\\nname", "url": "/items/7",
                "user": {"login": "ann"}, "tags": ["x"]}]}
            """
        let page = try read(json) { list in
            list.items = JSONPointer("/data")!
            list.version = JSONPointer("/at")
            list.name = JSONPointer("/title")
            list.link = JSONPointer("/url")
            list.fields = [
                "author": JSONPointer("/user/login")!, "tags": JSONPointer("/tags")!, "no": JSONPointer("/no")!,
            ]
        }
        let item = try #require(page.items.first)
        #expect((item.id, item.name) == ("7", "A name"))
        #expect(item.version == ItemVersion("2026-01-02T03:04:05Z", rank: 1_767_323_045_000))
        #expect(item.details?.link == "https://api.example.org/items/7")
        #expect(item.details?.fields == ["author": "ann"])
    }

    @Test func withoutAVersionEveryOtherContentIsAnotherVersion() throws {
        let page = try read(#"[{"id": "a", "x": 1, "y": [2]}, {"id": "b"}]"#)
        let same = try read(#"[{"y": [2], "x": 1, "id": "a"}]"#)
        let other = try read(#"[{"id": "a", "x": 1, "y": [3]}]"#)
        #expect(page.items[0].version == same.items[0].version)
        #expect(page.items[0].version != other.items[0].version)
        #expect(page.items[0].version.rank == nil)
    }

    @Test(arguments: [
        #"{"id": {}}"#, #"{"id": []}"#, #"{"id": null}"#, #"{"id": ""}"#, #"{"id": true}"#, #"{"id": 1.5}"#, "{}", "3",
        #"{"id": "a\u0000"}"#, "{\"id\": \"\(String(repeating: "a", count: 2049))\"}",
    ])
    func anItemWithoutAnIdIsNamedOrSetAside(item: String) throws {
        let json = "[{\"id\": 1}, \(item)]"
        let rejection = try rejection(json)
        #expect(rejection.isOfItems)
        #expect(rejection.issues.map(\.path) == ["/1/id"])
        #expect(rejection.sentence?.contains("/1/id") == true)
        let page = try read(json, setsAside: true)
        #expect((page.items.map(\.id), page.fetched, page.refused.count) == (["1"], 2, 1))
    }

    @Test func anItemThatIsSetAsideIsTheSameWhereverItStands() throws {
        let first = try read(#"[{"id": {}}, {"id": 1}]"#, setsAside: true)
        let second = try read(#"[{"id": 1}, {"id": {}}]"#, setsAside: true)
        #expect(first.refused.map(\.fingerprint) == second.refused.map(\.fingerprint))
    }

    @Test(arguments: [
        (#""javascript:alert(1)""#, nil), (#""https://u:p@example.org/""#, nil), (#""ftp://example.org/""#, nil),
        (#""""#, nil), ("null", nil), ("true", nil), ("7", nil), ("[]", nil),
        ("\"/\(String(repeating: "a", count: 2040))\"", nil), ("\"/\(String(repeating: "ä", count: 1000))\"", nil),
        (#""//cdn.example.org/a""#, "https://cdn.example.org/a"),
        (#""?page=2""#, "https://api.example.org/v1/items?page=2"),
    ])
    func aLinkThatIsNoneIsLeftOut(link: String, expected: String?) throws {
        let page = try read(#"[{"id": 1, "url": \#(link)}]"#) { $0.link = JSONPointer("/url") }
        #expect(page.items[0].details?.link == expected)
    }

    @Test func anItemThatIsThereTwiceCountsOnceInItsNewerVersion() throws {
        let ranked = try read(#"[{"id": 1, "v": 5}, {"id": 1, "v": 6}, {"id": 1, "v": 4}]"#) {
            $0.version = JSONPointer("/v")
        }
        #expect(ranked.items.map(\.version.text) == ["6"])
        let texts = #"[{"id": 1, "v": "a"}, {"id": 1, "v": "b"}]"#
        let newest = try read(texts) { list in (list.version, list.order) = (JSONPointer("/v"), .newestFirst) }
        #expect(newest.items.map(\.version.text) == ["a"])
        let oldest = try read(texts) { list in (list.version, list.order) = (JSONPointer("/v"), .oldestFirst) }
        #expect(oldest.items.map(\.version.text) == ["b"])
        // Both are of the same millisecond.
        let times = #"[{"id": 1, "v": "2026-01-01T00:00:00.0001Z"}, {"id": 1, "v": "2026-01-01T00:00:00.0002Z"}]"#
        let later = try read(times) { list in (list.version, list.order) = (JSONPointer("/v"), .oldestFirst) }
        #expect(later.items.map(\.version.text) == ["2026-01-01T00:00:00.0002Z"])
    }

    @Test func idsAreComparedByTheirBytes() throws {
        let page = try read(#"[{"id": "caf\u00e9"}, {"id": "cafe\u0301"}, {"id": "1"}, {"id": 1}]"#)
        #expect(page.items.map(\.id.utf8.count) == [5, 6, 1])
    }

    @Test func aNumberAboveThePrecisionOfDecimalsStaysExact() throws {
        let page = try read(#"[{"id": 9007199254740993}, {"id": 9007199254740992}, {"id": 9223372036854775807}]"#)
        #expect(page.items.map(\.id) == ["9007199254740993", "9007199254740992", "9223372036854775807"])
        #expect(try rejection(#"[{"id": 9223372036854775808}]"#).sentence?.contains("64 bits") == true)
    }

    @Test func aBlankNameIsNone() throws {
        let page = try read(
            #"[{"id": 1, "t": " \n "}, {"id": 2, "t": null}, {"id": 3, "t": {}}, {"id": 4, "t": " a\tb "}]"#
        ) {
            $0.name = JSONPointer("/t")
        }
        #expect(page.items.map(\.name) == [nil, nil, nil, "a b"])
    }

    @Test func aLongValueIsCut() throws {
        let page = try read("[{\"id\": 1, \"t\": \"\(String(repeating: "a", count: 600))\"}]") { list in
            (list.name, list.fields) = (JSONPointer("/t"), ["t": JSONPointer("/t")!])
        }
        #expect(page.items[0].name?.count == 501)
        #expect(page.items[0].details?.fields["t"]?.count == 501)
    }

    // MARK: - Answers

    @Test(arguments: [#"{"data": {}}"#, #"{"data": null}"#, #"{"other": []}"#, "[]", "1"])
    func anAnswerWithoutTheListNamesThePlace(json: String) throws {
        let rejection = try rejection(json) { $0.items = JSONPointer("/data")! }
        #expect(rejection.sentence?.contains("/data") == true)
        #expect(!rejection.isOfItems)
    }

    @Test(arguments: ["", "<html>", "[", "{\"a\": 1e", String(repeating: "[", count: 100_000)])
    func bytesThatAreNotJSONAreNoPage(text: String) {
        #expect(ListReader(list(), setsAside: true).read(Array(text.utf8), of: Self.request) == nil)
    }

    @Test(arguments: [
        (JSONPoll.Expectation(JSONPointer("/status")!, .equals("ok")), #"{"status": "ok"}"#, #"{"status": "down"}"#),
        (JSONPoll.Expectation(JSONPointer("/status")!, .exists), #"{"status": null}"#, "{}"),
        (JSONPoll.Expectation(JSONPointer("/n")!, .atLeast(2)), #"{"n": 2}"#, #"{"n": 1.9}"#),
        (JSONPoll.Expectation(JSONPointer("/n")!, .atLeast(2)), #"{"n": 3}"#, #"{"n": "3"}"#),
        (JSONPoll.Expectation(JSONPointer("/n")!, .atLeast(2)), #"{"n": 1e300}"#, #"{"n": 1e400}"#),
        (JSONPoll.Expectation(JSONPointer("/n")!, .equals("1.0")), #"{"n": 1}"#, #"{"n": 1.5}"#),
        (
            JSONPoll.Expectation(JSONPointer("/n")!, .equals("9007199254740993")), #"{"n": 9007199254740993}"#,
            #"{"n": 9007199254740992}"#
        ),
        (JSONPoll.Expectation(JSONPointer("/n")!, .equals("true")), #"{"n": true}"#, #"{"n": [true]}"#),
    ])
    func aBrokenExpectationIsAFailure(expectation: JSONPoll.Expectation, good: String, bad: String) throws {
        func json(_ head: String) -> String { head.dropLast() + (head.count > 2 ? ", " : "") + #""data": []}"# }
        let change: (inout JSONPoll) -> Void = { list in
            (list.items, list.expect) = (JSONPointer("/data")!, [expectation])
        }
        #expect(try read(json(good), change).items.isEmpty)
        #expect(try rejection(json(bad), change).sentence?.contains(expectation.place.rawValue) == true)
    }

    @Test func theFirstBrokenExpectationIsNamedWithoutTheServersValue() throws {
        let rejection = try rejection(#"{"a": "secret", "b": "secret"}"#) { list in
            list.expect = ["/b", "/a"].map { JSONPoll.Expectation(JSONPointer($0)!, .equals("ok")) }
        }
        #expect(rejection.issues == [ValidationIssue(path: "/b", problem: .invalid)])
        #expect(rejection.sentence?.contains("secret") == false)
    }

    @Test func aListThatIsTooLongOrTooDeepIsNotDecodedAndSaysWhy() throws {
        let items = (0...JSONPoll.largestList).map { "{\"id\": \($0)}" }.joined(separator: ",")
        #expect(try rejection("[\(items)]").sentence?.contains("query") == true)
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(try rejection(deep).issues.map(\.path) == ["$"])
    }

    // MARK: - Next page

    @Test(arguments: [
        (#"<https://api.example.org/v1/items?page=2>; rel="next""#, "https://api.example.org/v1/items?page=2"),
        (
            #"</v1/items?page=9>; rel="last", <?page=2>; title="a, b>; rel=\"x"; rel="prev next""#,
            "https://api.example.org/v1/items?page=2"
        ),
        (#"<?page=2>;rel=next"#, "https://api.example.org/v1/items?page=2"),
        (#"<?page=2>; rel="prev""#, nil), ("nonsense", nil), ("<unclosed", nil),
    ])
    func theHeaderLinkLeadsToTheNextPage(header: String, url: String?) throws {
        let page = try read("[]", link: header) { $0.next = .linkHeader }
        #expect(page.next == url.map { .url($0) })
    }

    @Test(arguments: [
        "https://evil.example.net/", "http://api.example.org/v1/items", "https://api.example.org:8443/",
        "//evil.example", "https://api.example.org.evil.example/", "https://api.example.org\\\\@evil.example/",
        "https://api.example.org%2eevil.example/", "https:/\\\\evil.example", "https:page", "javascript:alert(1)",
        "a b",
        "https://u:p@api.example.org/", "file:///etc/passwd", "https://api.example.org/\u{0}",
    ])
    func aNextPageOfAnotherServerIsRefused(url: String) throws {
        let rejection = try rejection(
            #"{"next": "\#(url == "https://api.example.org/\u{0}" ? "https://api.example.org/\\u0000" : url)", "data": []}"#
        ) { list in
            (list.items, list.next) = (JSONPointer("/data")!, .url(at: JSONPointer("/next")!))
        }
        #expect(rejection.violation == .cursor)
        #expect(rejection.sentence?.contains("/next") == true)
    }

    @Test func aCursorBecomesAParameter() throws {
        let change: (inout JSONPoll) -> Void = { list in
            list.items = JSONPointer("/data")!
            list.next = .cursor(at: JSONPointer("/next")!, parameter: "cursor")
        }
        #expect(try read(#"{"next": "c+1", "data": []}"#, change).next == .parameter(name: "cursor", value: "c+1"))
        #expect(try read(#"{"next": 7, "data": []}"#, change).next == .parameter(name: "cursor", value: "7"))
    }

    private static let ways: [JSONPoll.Next] = [
        .url(at: JSONPointer("/next")!), .cursor(at: JSONPointer("/next")!, parameter: "cursor"),
    ]

    @Test(arguments: [#", "next": null"#, #", "next": """#, #", "next": false"#, #", "next": []"#, ""], ways)
    func nothingAtTheNextPageIsTheEnd(member: String, next: JSONPoll.Next) throws {
        let page = try read("{\"data\": []\(member)}") { list in
            (list.items, list.next) = (JSONPointer("/data")!, next)
        }
        #expect(page.next == nil)
    }

    @Test(arguments: [#"{"href": "/a"}"#, #"["/a"]"#, "true", "\"\(String(repeating: "a", count: 2049))\""], ways)
    func aNextPageOfAnotherTypeIsNotTheEnd(value: String, next: JSONPoll.Next) throws {
        let rejection = try rejection("{\"data\": [], \"next\": \(value)}") { list in
            (list.items, list.next) = (JSONPointer("/data")!, next)
        }
        #expect(rejection.violation == .cursor)
        #expect(rejection.issues.map(\.path) == ["/next"])
    }

    @Test(arguments: [
        ("/a/b", "https://api.example.org/a/b"), ("b", "https://api.example.org/v1/b"),
        ("../b", "https://api.example.org/b"), ("//API.example.org:443/b", "https://API.example.org:443/b"),
        ("?page=2#top", "https://api.example.org/v1/items?page=2"),
    ])
    func aNextPageCanBeRelative(text: String, url: String) throws {
        let page = try read("{\"data\": [], \"next\": \"\(text)\"}") { list in
            (list.items, list.next) = (JSONPointer("/data")!, .url(at: JSONPointer("/next")!))
        }
        #expect(page.next == .url(url))
    }

    @Test func pagesWithNumbersEndWithAnEmptyOne() throws {
        let change: (inout JSONPoll) -> Void = { $0.next = .number(parameter: "page", first: 0) }
        #expect(try read(#"[{"id": 1}]"#, change).next == .parameter(name: "page", value: "1"))
        #expect(try read("[]", change).next == nil)
    }

    @Test(arguments: [
        (#""2026-01-02T03:04:05.5Z""#, SinceValue(1_767_323_045_500, .iso8601)),
        ("1767323045", SinceValue(1_767_323_045_000, .seconds)),
        ("1767323045500", SinceValue(1_767_323_045_500, .milliseconds)), ("42", SinceValue(42, .number)),
        (#""yesterday""#, nil), ("-1", nil), ("null", nil),
    ])
    func theTimeOfAnItemIsReadInItsForm(json: String, expected: SinceValue?) throws {
        let page = try read("[{\"id\": 1, \"at\": \(json)}]") {
            $0.since = JSONPoll.Since(parameter: "since", from: JSONPointer("/at")!)
        }
        #expect(page.since == expected)
    }
}
