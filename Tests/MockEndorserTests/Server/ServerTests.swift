import Foundation
import MockEndorser
import Testing

@Suite struct ServerTests {
    @Test func recordsRequests() async throws {
        try await TestWorld.run(.canonical) { world in
            _ = try await world.probe.post(
                "\(TestWorld.changes)?a=1",
                ["planIds": []],
                headers: ["X-Request-ID": "one"]
            )
            let request = try #require(world.server.requests(to: .plansChanged).first)
            #expect(request.method == "POST" && request.query == "a=1")
            #expect(request.header("x-request-id") == "one")
            #expect(String(decoding: request.body, as: UTF8.self) == #"{"planIds":[]}"#)
            #expect(request.receivedAt == world.clock.now)
        }
    }

    @Test func oldestRecordsAreRemovedFirst() async throws {
        try await TestWorld.run(.canonical, { $0.recordedRequests = 2 }) { world in
            for number in 1...3 { _ = try await world.probe.get("/api/v2/time?n=\(number)") }
            #expect(world.server.requests().map(\.query) == ["n=2", "n=3"])
            #expect(world.server.requestCount(of: .time) == 3)
            world.server.forgetRequests()
            #expect(world.server.requests().isEmpty && world.server.requestCount(of: .time) == 0)
        }
    }

    @Test func waitingEndsWithTheRequestOrTheTask() async throws {
        try await TestWorld.run(.canonical) { world in
            let server = world.server
            async let arrived: Void = server.waitForRequests(2, to: .time)
            _ = try await world.probe.get("/api/v2/time")
            _ = try await world.probe.get("/api/v2/time")
            try await arrived
            // Unstructured, because the test cancels it.
            let waiting = Task { try await server.waitForRequests(3, to: .time) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func restartKeepsPortAndState() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publish(count: 1)
            let port = world.server.port
            try await world.server.stop()
            await #expect(throws: (any Error).self) { try await world.poll() }
            try await world.server.start()
            #expect(world.server.port == port)
            #expect(try await world.poll().planIDs == ids)
        }
    }

    @Test(arguments: MockDialect.allCases) func sameSeedGivesTheSameContent(dialect: MockDialect) {
        func make(seed: UInt64) -> (plans: [MockPlan], ids: [String]) {
            let clock = HandClock()
            var options = MockServerOptions()
            options.dialect = dialect
            options.generator.seed = seed
            options.planCount = 1200
            options.now = { clock.now }
            let server = MockServer(options: options)
            return (server.plans, server.publish(count: 50))
        }
        let (plans, ids) = make(seed: 7)
        #expect(plans == make(seed: 7).plans && ids == make(seed: 7).ids)
        #expect(ids != make(seed: 8).ids)
        #expect(Set(plans.map(\.id)).count == 1200 && Set(plans.map(\.name)).count == 1200)
        let form = dialect == .canonical ? #/[a-zA-Z0-9_-]+/# : #/https://endorser\.ch/entity/[0-9A-HJKMNP-TV-Z]{26}/#
        for plan in plans { #expect(plan.id.wholeMatch(of: form) != nil) }
    }

    @Test func specificChangesAndCataloguesAreAccepted() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.setPlanCatalogue([MockPlan(id: "fence", name: "Fence", issuerDID: "did:key:a")])
            let id = "1704067200_abc123_def45678"
            world.server.publish([MockChange(planID: "fence", id: id, name: "Fence 2", description: "Done.")])
            let page = try await world.poll()
            let plan = try #require(page.items.first?["planSummary"] as? [String: Any])
            #expect(page.planIDs == [id] && plan["name"] as? String == "Fence 2")
            #expect(plan["description"] as? String == "Done." && world.server.planIDs == ["fence"])
        }
    }
}
