import Foundation
import MockEndorser
import Testing

@Suite struct MockListTests {
    private func run(_ rest: String, _ body: (TestWorld) async throws -> Void) async throws {
        let items = (1...5).map { "{\"id\": \($0), \"at\": \"2026-01-0\($0)\"}" }.joined(separator: ",")
        let json = "{\"path\": \"/v1/items\", \"items_at\": \"/data\", \"items\": [\(items)], \(rest)}"
        let list = try MockList(json: Data(json.utf8))
        try await TestWorld.run(.endorser, { $0.lists = [list] }, body)
    }

    private func ids(_ answer: Answer) -> [Int] { answer.items.compactMap { $0["id"] as? Int } }

    @Test func theHeaderLinkLeadsThroughThePages() async throws {
        try await run(#""page_size": 2, "paging": {"link_header": true}"#) { world async throws in
            var (target, all): (String?, [Int]) = ("/v1/items?limit=9", [])
            while let next = target {
                let answer = try await world.probe.get(next)
                all += ids(answer)
                target = answer.header("Link").flatMap { $0.split(separator: "<").last?.split(separator: ">").first }
                    .map { String($0).replacingOccurrences(of: "http://127.0.0.1:\(world.server.port)", with: "") }
            }
            #expect(all == [1, 2, 3, 4, 5])
        }
    }

    @Test func aCursorAndANumberLeadThroughThePages() async throws {
        try await run(#""page_size": 3, "paging": {"cursor": "/next", "parameter": "cursor"}"#) { world async throws in
            let first = try await world.probe.get("/v1/items")
            #expect((ids(first), first.object["next"] as? String) == ([1, 2, 3], "3"))
            let last = try await world.probe.get("/v1/items?cursor=3")
            #expect(ids(last) == [4, 5] && last.object["next"] is NSNull)
        }
        try await run(#""page_size": 3, "paging": {"page": "page", "first": 0}"#) { world async throws in
            let second = try await world.probe.get("/v1/items?page=1")
            let third = try await world.probe.get("/v1/items?page=2")
            #expect(ids(second) == [4, 5] && ids(third).isEmpty)
        }
    }

    @Test func newerItemsAndUnchangedAnswersCanBeAskedFor() async throws {
        try await run(#""since": {"parameter": "since", "from": "/at"}, "envelope": {"status": "ok"}"#) {
            world async throws in
            let answer = try await world.probe.get("/v1/items?since=2026-01-04")
            #expect(ids(answer) == [4, 5] && answer.object["status"] as? String == "ok")
            let etag = try #require(try await world.probe.get("/v1/items").header("ETag"))
            let headers = ["If-None-Match": etag]
            #expect(try await world.probe.get("/v1/items", headers: headers).status == 304)
            world.server.edit("/v1/items") { $0.put(json: #"{"id": 2, "at": "2026-02-01"}"#) }
            let changed = try await world.probe.get("/v1/items", headers: headers)
            #expect(ids(changed) == [1, 3, 4, 5, 2])
            _ = try await world.probe.post("/mock/list?path=/v1/items", ["id": 9, "new_name": "x"])
            world.server.edit("/v1/items") { $0.remove("1") }
            let last = try await world.probe.get("/v1/items").items.last
            #expect(last?["new_name"] as? String == "x")
        }
    }

    @Test func anotherURLLeadsThroughThePagesOfTheNewestFirst() async throws {
        try await run(#""order": "newest_first", "page_size": 4, "paging": {"next_url": "/links/next"}"#) {
            world async throws in
            world.server.edit("/v1/items") { $0.put(json: #"{"id": 3, "at": "2026-02-01"}"#) }
            let first = try await world.probe.get("/v1/items")
            #expect(ids(first) == [3, 1, 2, 4])
            let next = try #require((first.object["links"] as? [String: Any])?["next"] as? String)
            let target = next.replacingOccurrences(of: "http://127.0.0.1:\(world.server.port)", with: "")
            let last = try await world.probe.get(target)
            #expect(ids(last) == [5])
        }
    }

    @Test func theTimeOfTheLastChangeAndOtherHeadersAreSent() async throws {
        try await run(#""etag": false, "last_modified": true, "headers": {"RateLimit": "remaining=3"}"#) {
            world async throws in
            let first = try await world.probe.get("/v1/items")
            #expect(first.header("ETag") == nil && first.header("RateLimit") == "remaining=3")
            let headers = ["If-Modified-Since": try #require(first.header("Last-Modified"))]
            #expect(try await world.probe.get("/v1/items", headers: headers).status == 304)
            world.server.edit("/v1/items") { $0.remove("1") }
            let changed = try await world.probe.get("/v1/items", headers: headers)
            #expect(ids(changed) == [2, 3, 4, 5])
        }
    }

    @Test func itemsAreRepeatedWithANumberInTheirTexts() async throws {
        let json = #"{"path": "/v1/a", "repeat": 3, "order": "newest_first", "items": [{"id": "a{n}", "rank": 1}]}"#
        let list = try MockList(json: Data(json.utf8))
        try await TestWorld.run(.endorser, { $0.lists = [list] }) { world async throws in
            let text = try await world.probe.get("/v1/a").text
            #expect(text == #"[{"id":"a3","rank":1},{"id":"a2","rank":1},{"id":"a1","rank":1}]"#)
        }
    }

    @Test func aRequiredHeaderAndAFaultAreAnswered() async throws {
        try await run(#""requires": {"header": "X-Key", "value": "k"}"#) { world async throws in
            #expect(try await world.probe.get("/v1/items").status == 401)
            #expect(try await world.probe.get("/v1/items", headers: ["X-Key": "k"]).status == 200)
            _ = try await world.probe.post("/mock/fault", ["endpoint": "list", "fault": "status", "status": 503])
            #expect(try await world.probe.get("/v1/items", headers: ["X-Key": "k"]).status == 503)
        }
    }
}
