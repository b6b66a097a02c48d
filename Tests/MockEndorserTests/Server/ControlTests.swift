import Foundation
import MockEndorser
import Testing

@Suite struct ControlTests {
    @Test func publishedChangesAppearInStateAndPages() async throws {
        try await TestWorld.run(.canonical) { world in
            let answer = try await world.probe.post("/mock/publish", ["count": 2, "offers": 1])
            let ids = try #require(answer.object["ids"] as? [String])
            #expect(try await world.poll().planIDs == ids)
            _ = try await world.acknowledge([ids[0]], key: "a")
            let state = try await world.probe.get("/mock/state").object
            #expect(state["published"] as? [String] == ids)
            #expect(state["acknowledged"] as? [String] == [ids[0]])
            #expect((state["requests"] as? [String: Int])?["plans_changed"] == 1)
            let plans = try await world.probe.get("/mock/plans").object["plans"] as? [String]
            #expect(plans == world.server.planIDs && plans?.count == 20)
        }
    }

    @Test(arguments: [
        (#"{"endpoint":"time","fault":"status","status":503}"#, 503),
        (#"{"endpoint":"time","fault":"rate_limited","retry_after":"5"}"#, 429),
        (#"{"endpoint":"time","fault":"reset_before_head"}"#, 0),
        (#"{"endpoint":"time","fault":"delay","seconds":0.001}"#, 200),
        (#"{"endpoint":"time","fault":"redirect","to":"/x"}"#, 307),
        (#"{"endpoint":"time","fault":"authentication_failure"}"#, 401),
    ])
    func faultsAreScriptedOverHTTP(body: String, status: Int) async throws {
        try await TestWorld.run(.canonical) { world async throws in
            #expect(try await world.probe.post("/mock/fault", data: Data(body.utf8)).status == 200)
            #expect(try await world.probe.get("/api/v2/time").status == status)
            #expect(try await world.probe.get("/api/v2/time").status == 200)
        }
    }

    @Test func stickyFaultStaysUntilCleared() async throws {
        try await TestWorld.run(.canonical) { world in
            _ = try await world.probe.post(
                "/mock/fault",
                ["endpoint": "time", "fault": "status", "status": 500, "sticky": true]
            )
            for _ in 0..<3 { #expect(try await world.probe.get("/api/v2/time").status == 500) }
            #expect(try await world.probe.post("/mock/clear-faults", [:]).status == 200)
            #expect(try await world.probe.get("/api/v2/time").status == 200)
        }
    }

    @Test func skewIsSetOverHTTP() async throws {
        try await TestWorld.run(.endorser) { world async throws in
            #expect(try await world.probe.post("/mock/skew", ["seconds": -3600]).status == 200)
            #expect(try await world.probe.get("/api/v2/time").header("Date") == "Wed, 31 Dec 2025 23:00:30 GMT")
        }
    }

    @Test(arguments: [#"{"endpoint":"nowhere","fault":"status","status":1}"#, #"{"endpoint":"time","fault":"odd"}"#])
    func unknownFaultsAreRejected(body: String) async throws {
        try await TestWorld.run(.canonical) { world async throws in
            #expect(try await world.probe.post("/mock/fault", data: Data(body.utf8)).status == 400)
        }
    }
}
