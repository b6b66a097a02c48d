import Testing

@testable import StarwatchCore

@Suite struct ListGuessTests {
    private func guess(_ json: String, link: String? = nil) -> ListGuess? { ListGuess(Array(json.utf8), link: link) }

    @Test func theListIsTheAnswerOrAPartOfIt() {
        for (json, place) in [
            (#"[{"id": 1}]"#, ""), (#"{"data": [{"id": 1}]}"#, "/data"),
            (#"{"a": [{"x": 1}], "results": [{"id": 1}]}"#, "/results"),
            (#"{"data": {"items": [{"id": 1}]}}"#, "/data/items"),
            (#"{"data": {"x": [{"id": 1}]}, "all": [{"id": 1}]}"#, "/all"), (#"{"a/b": [{"id": 1}]}"#, "/a~1b"),
        ] {
            #expect(guess(json)?.items.rawValue == place, "\(json)")
        }
    }

    @Test(arguments: ["", "{", "1", "[]", "[1]", #"{"data": []}"#, #"{"a": {"b": {"c": [{"id": 1}]}}}"#])
    func withoutAListOfObjectsThereIsNoGuess(json: String) {
        #expect(guess(json) == nil)
    }

    @Test func membersAreTakenByTheirNames() {
        let guess = guess(
            #"[{"uuid": "a", "html_url": "https://a.test/a", "name": "A", "updated_at": "2026-01-02T00:00:00Z"}]"#
        )
        #expect(guess?.id == JSONPointer("/uuid"))
        #expect(guess?.version == JSONPointer("/updated_at"))
        #expect(guess?.name == JSONPointer("/name"))
        #expect(guess?.link == JSONPointer("/html_url"))
    }

    @Test func anIdTellsAllItemsApart() {
        #expect(guess(#"[{"id": 1, "key": "a"}, {"id": 1, "key": "b"}]"#)?.id == JSONPointer("/key"))
        #expect(guess(#"[{"id": 1, "number": 1}, {"number": 2}]"#)?.id == JSONPointer("/number"))
        #expect(guess(#"[{"id": {}}, {"id": null}]"#)?.id == nil)
    }

    @Test func aLinkIsAURL() {
        #expect(guess(#"[{"id": 1, "url": "x", "link": "/a"}]"#)?.link == JSONPointer("/link"))
    }

    @Test func theNextPageIsInTheHeaderOrInTheAnswer() {
        #expect(guess(#"[{"id": 1}]"#, link: "<https://a.test/?page=2>; rel=\"next\"")?.next == .linkHeader)
        for (json, next) in [
            (#"{"next": "https://a.test/2", "data": [{"id": 1}]}"#, JSONPoll.Next.url(at: JSONPointer("/next")!)),
            (#"{"links": {"next": "?page=2"}, "data": [{"id": 1}]}"#, .url(at: JSONPointer("/links/next")!)),
            (
                #"{"meta": {"next_cursor": "c"}, "data": [{"id": 1}]}"#,
                .cursor(at: JSONPointer("/meta/next_cursor")!, parameter: "cursor")
            ),
            (
                #"{"nextPageToken": "c", "items": [{"id": 1}]}"#,
                .cursor(at: JSONPointer("/nextPageToken")!, parameter: "pageToken")
            ),
        ] {
            #expect(guess(json)?.next == next, "\(json)")
        }
        #expect(guess(#"{"next": null, "data": [{"id": 1}]}"#)?.next == nil)
    }

    @Test func theOrderIsThatOfTheTimes() {
        func items(_ times: [String], _ name: String) -> String {
            "[" + times.enumerated().map { "{\"id\": \($0), \"\(name)\": \($1)}" }.joined(separator: ", ") + "]"
        }
        #expect(guess(items(["1767225600", "1767225500"], "created_at"))?.order == .newestFirst)
        #expect(guess(items(["\"2026-01-01T00:00:00Z\"", "\"2026-01-02T00:00:00Z\""], "date"))?.order == .oldestFirst)
        #expect(guess(items(["1767225600", "1767225500", "1767225600"], "date"))?.order == JSONPoll.Order.none)
        #expect(guess(items(["1767225600"], "date"))?.order == JSONPoll.Order.none)
    }

    /// Otherwise an edit of an item on a later page would not be noticed.
    @Test func theOrderIsThatOfTheVersion() {
        let json = #"""
            [{"id": 2, "created_at": 1767225600, "updated_at": 1767225601},
             {"id": 1, "created_at": 1767225500, "updated_at": 1767225700}]
            """#
        #expect(guess(json)?.order == .oldestFirst)
    }
}
