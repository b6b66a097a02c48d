import Foundation
import MockEndorser
import Testing

@Suite struct CanonicalPageTests {
    @Test(arguments: [false, true]) func pagesAscendToTheEnd(inclusive: Bool) async throws {
        try await TestWorld.run(.canonical, { $0.isAfterIDInclusive = inclusive }) { world in
            let ids = world.server.publish(count: 250)
            var seen: [String] = []
            var cursor: String? = "0000000000_000000_00000000"
            var sizes: [Int] = []
            while let after = cursor {
                let page = try await world.poll(after: after)
                let pagination = try #require(page.object["pagination"] as? [String: Any])
                sizes.append(page.items.count)
                seen += page.planIDs
                #expect(page.object["hitLimit"] as? Bool == pagination["hasMore"] as? Bool)
                cursor = pagination["nextAfterId"] as? String
                if let next = cursor, let last = page.planIDs.last { #expect(next > last) }
            }
            #expect(seen == ids)
            #expect(sizes == [100, 100, 50])
        }
    }

    @Test func idsAscendInTheirFormat() async throws {
        try await TestWorld.run(.canonical) { world async throws in
            let ids = world.server.publish(count: 300)
            #expect(ids == ids.sorted() && Set(ids).count == 300)
            for id in ids { #expect(id.wholeMatch(of: /[0-9]{10}_[A-Za-z0-9]{6}_[a-f0-9]{8}/) != nil) }
        }
    }

    @Test func emptyPageKeepsItsPagination() async throws {
        try await TestWorld.run(.canonical) { world in
            let page = try await world.poll(after: "0000000000_000000_00000000")
            #expect(page.text == #"{"data":[],"hitLimit":false,"pagination":{"hasMore":false,"nextAfterId":null}}"#)
        }
    }

    @Test func boundsAreExclusive() async throws {
        try await TestWorld.run(.canonical) { world async throws in
            let ids = world.server.publish(count: 5)
            #expect(try await world.poll(after: ids[0], before: ids[4]).planIDs == Array(ids[1...3]))
        }
    }

    @Test func secondVersionHasTheFirstAsPreviousClaim() async throws {
        try await TestWorld.run(.canonical, { $0.planCount = 1 }) { world in
            let ids = world.server.publish(count: 2)
            let page = try await world.poll()
            #expect(page.planIDs == ids)
            #expect(page.items[0]["previousClaim"] == nil)
            let previous = try #require(page.items[1]["previousClaim"] as? [String: Any])
            #expect(previous["jwtId"] as? String == ids[0])
            let plan = try #require(page.items[1]["planSummary"] as? [String: Any])
            #expect(plan["version"] as? String == "1.0.1")
            #expect((plan["issuerDid"] as? String)?.hasPrefix("did:key:") == true)
        }
    }

    @Test(arguments: [
        (#"{"planIds":"one"}"#, "planIds", "string"), (#"{}"#, "planIds", "undefined"),
        (#"{"planIds":[],"limit":101}"#, "limit", "101"),
        (#"{"planIds":[],"afterId":"01JZZZZZZZZZZZZZZZZZZZZZZZ"}"#, "afterId", "string"),
    ])
    func invalidParametersAreNamed(body: String, field: String, received: String) async throws {
        try await TestWorld.run(.canonical) { world in
            let answer = try await world.probe.post(TestWorld.changes, data: Data(body.utf8))
            let details = answer.object["details"] as? [String: Any]
            #expect(answer.status == 400)
            #expect(answer.object["error"] as? String == "invalid_request")
            #expect(details?["field"] as? String == field)
            #expect(details?["received"] as? String == received)
        }
    }

    @Test(arguments: [(1000, 200), (1001, 400)]) func planIDsAreLimitedToThousand(count: Int, status: Int) async throws
    {
        try await TestWorld.run(.canonical) { world async throws in
            let ids = (0..<count).map { "plan_\($0)" }
            #expect(try await world.probe.post(TestWorld.changes, ["planIds": ids]).status == status)
        }
    }

    @Test func bodyOverOneMebibyteIsRejected() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = [String(repeating: "x", count: 1_048_576)]
            let answer = try await world.probe.post(TestWorld.changes, ["planIds": ids])
            #expect(answer.status == 413)
            #expect(answer.object["error"] as? String == "payload_too_large")
        }
    }

    @Test func timeFollowsTheSkew() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.clockSkew = .seconds(90)
            let answer = try await world.probe.get("/api/v2/time")
            #expect(answer.header("X-Server-Time") == "1767225720000")
            #expect(answer.header("Date") == "Thu, 01 Jan 2026 00:02:00 GMT")
            #expect(answer.object["serverTime"] as? String == "2026-01-01T00:02:00Z")
            #expect(world.server.publish(count: 1)[0].hasPrefix("1767225720_"))
        }
    }

    @Test func lateChangeAppearsBelowSeenIDs() async throws {
        try await TestWorld.run(.canonical) { world async throws in
            let late = world.server.publish(count: 1, age: .seconds(4), visibleAfter: .seconds(3))[0]
            let seen = world.server.publish(count: 1)[0]
            #expect(late < seen)
            #expect(try await world.poll().planIDs == [seen])
            world.clock.advance(by: 3)
            #expect(try await world.poll().planIDs == [late, seen])
            #expect(try await world.poll(after: seen).planIDs.isEmpty)
        }
    }

    @Test func requestsAreLimitedToHundredPerMinute() async throws {
        try await TestWorld.run(.canonical, { $0.requestsPerMinute = 3 }) { world in
            #expect(try await world.poll().header("X-Rate-Limit-Remaining") == "2")
            world.clock.advance(by: 20)
            _ = try await world.poll()
            _ = try await world.poll()
            let refused = try await world.poll()
            #expect(refused.status == 429)
            #expect(refused.header("Retry-After") == "40")
            #expect(refused.object["retryAfter"] as? Int == 40)
            #expect(refused.object["code"] as? String == "RATE_LIMIT_EXCEEDED")
            world.clock.advance(by: 39)
            #expect(try await world.poll().status == 429)
            world.clock.advance(by: 1)
            #expect(try await world.poll().status == 200)
            #expect(try await world.poll().status == 429)
        }
    }

    @Test func offersAscendAndSupportIfNoneMatch() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publishOffers(count: 3, to: "did:key:me")
            let path = "/api/v2/report/offers?recipientDid=did%3Akey%3Ame&afterId=\(ids[0])"
            let first = try await world.probe.get(path)
            #expect(first.items.compactMap { $0["jwtId"] as? String } == [ids[1], ids[2]])
            #expect(first.object["hitLimit"] as? Bool == false)
            let tag = try #require(first.header("ETag"))
            let second = try await world.probe.get(path, headers: ["If-None-Match": tag])
            #expect(second.status == 304 && second.body.isEmpty)
            let owned = try await world.probe.get("/api/v2/report/offersToPlansOwnedByMe")
            #expect(owned.items.count == 3)
        }
    }
}
