import Testing

@testable import StarwatchCore

@Suite struct ListPreviewTests {
    private let request = ListRequest(url: "https://a.test/items", page: 1)

    private var list: JSONPoll {
        var list = JSONPoll()
        list.url = "https://a.test/items"
        list.items = JSONPointer("/data")!
        list.id = JSONPointer("/id")!
        list.name = JSONPointer("/title")
        list.fields = ["author": JSONPointer("/user/login")!]
        return list
    }

    private func preview(_ json: String) throws -> ListPreview {
        try #require(ListPreview(Array(json.utf8), of: request, link: nil, as: list))
    }

    @Test func aPlaceThatItemsDoNotHaveIsCounted() throws {
        let preview = try preview(
            #"{"data": [{"id": 1, "title": "A"}, {"id": 2, "title": null, "user": {"login": "b"}}]}"#
        )
        #expect(try preview.page.get().items.map(\.id) == ["1", "2"])
        #expect(preview.gaps.map(\.setting) == ["name", "fields.author"])
        #expect(preview.gaps.map(\.count) == [1, 1])
        #expect(preview.gaps.first?.place.rawValue == "/title")
    }

    @Test func thePlacesOfAnItemAreNamesWithoutValues() throws {
        let preview = try preview(
            #"{"data": [{"id": 1, "a/b": "secret", "user": {"login": "x", "id": 2}, "tags": []}]}"#
        )
        #expect(preview.places == ["/a~1b", "/id", "/tags", "/user/id", "/user/login"])
    }

    @Test func withoutItemsThePlacesAreThoseOfTheAnswer() throws {
        let preview = try preview(#"{"results": {"x": []}, "total": 1}"#)
        #expect(throws: PageRejection.self) { try preview.page.get() }
        #expect(preview.places == ["/results/x", "/total"] && preview.otherList == nil)
        #expect(try self.preview(#"{"results": [{"id": 1}]}"#).otherList == JSONPointer("/results"))
    }

    @Test func anItemThatCannotBeReadIsNamedByItsPlace() throws {
        let preview = try preview(#"{"data": [{"id": 1}, {"title": "A"}]}"#)
        #expect(preview.refusals == ["/data/1/id: missing"])
        #expect(try preview.page.get().fetched == 2)
    }

    @Test func anAnswerThatIsNoJSONHasNoPreview() {
        #expect(ListPreview(Array("<html>".utf8), of: request, link: nil, as: list) == nil)
    }
}
