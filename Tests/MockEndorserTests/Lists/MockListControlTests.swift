import Foundation
import MockEndorser
import Testing

/// Changes of a list while the mock runs, as another process makes them.
@Suite struct MockListControlTests {
    private static let route = "/mock/list?path=/v1/items"

    private func run(_ body: (TestWorld) async throws -> Void) async throws {
        let json = #"{"path": "/v1/items", "order": "newest_first", "items": [{"id": 3}, {"id": 2}, {"id": "a"}]}"#
        let list = try MockList(json: Data(json.utf8))
        try await TestWorld.run(.endorser, { $0.lists = [list] }, body)
    }

    @Test func aNewItemGoesToTheNewestEndAndAKnownOneMovesThere() async throws {
        try await run { world async throws in
            #expect(try await world.probe.post(Self.route, ["id": 4]).object["items"] as? Int == 4)
            #expect(try await world.probe.get("/v1/items").text == #"[{"id":4},{"id":3},{"id":2},{"id":"a"}]"#)
            #expect(try await world.probe.post(Self.route, ["id": 2, "x": 1]).object["items"] as? Int == 4)
            #expect(try await world.probe.get("/v1/items").text == #"[{"id":2,"x":1},{"id":4},{"id":3},{"id":"a"}]"#)
        }
    }

    @Test func anItemIsRemovedByItsID() async throws {
        try await run { world async throws in
            #expect(try await world.probe.delete(Self.route + "&id=a").object["items"] as? Int == 2)
            #expect(try await world.probe.delete(Self.route + "&id=9").object["items"] as? Int == 2)
            #expect(try await world.probe.get("/v1/items").text == #"[{"id":3},{"id":2}]"#)
        }
    }

    @Test func aListThatDoesNotExistAndABodyThatIsNoJSONAreRefused() async throws {
        try await run { world async throws in
            #expect(try await world.probe.post("/mock/list?path=/v1/others", ["id": 4]).status == 400)
            #expect(try await world.probe.post(Self.route, data: Data("{".utf8)).status == 400)
            #expect(try await world.probe.get("/v1/items").text == #"[{"id":3},{"id":2},{"id":"a"}]"#)
        }
    }

    /// The control routes are no requests of the agent.
    @Test func onlyRequestsForTheListAreRecorded() async throws {
        try await run { world async throws in
            _ = try await world.probe.post(Self.route, ["id": 4])
            _ = try await world.probe.get("/v1/items?limit=9")
            let recorded = world.server.requests(to: .list)
            #expect(recorded.map(\.path) == ["/v1/items"] && recorded.map(\.query) == ["limit=9"])
            #expect(world.server.requests().count == 1)
        }
    }
}
