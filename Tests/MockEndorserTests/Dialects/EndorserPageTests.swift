import Foundation
import MockEndorser
import Testing

@Suite struct EndorserPageTests {
    @Test func exactlyFiftyHitTheLimitAndAnEmptyPageFollows() async throws {
        try await TestWorld.run(.endorser, { $0.planCount = 50 }) { world in
            let ids = world.server.publish(count: 50)
            let first = try await world.poll(after: "0")
            #expect(first.planIDs == Array(ids.reversed()))
            #expect(first.object["hitLimit"] as? Bool == true)
            #expect(first.object["pagination"] == nil)
            let second = try await world.poll(after: "0", before: first.planIDs.last)
            #expect(second.text == #"{"data":[],"hitLimit":false}"#)
        }
    }

    @Test func pagesDescendAndLimitIsIgnored() async throws {
        try await TestWorld.run(.endorser, { $0.planCount = 120 }) { world in
            let ids = world.server.publish(count: 120)
            for id in ids { #expect(id.wholeMatch(of: /[0-9A-HJKMNP-TV-Z]{26}/) != nil) }
            var seen: [String] = []
            var before: String?
            var hitLimit = true
            while hitLimit {
                let page = try await world.poll(after: "0", before: before, limit: 7)
                hitLimit = page.object["hitLimit"] as? Bool ?? false
                seen += page.planIDs
                before = page.planIDs.last
            }
            #expect(seen == Array(ids.reversed()))
        }
    }

    @Test func planHasOneRowWithTheLatestID() async throws {
        try await TestWorld.run(.endorser, { $0.planCount = 1 }) { world async throws in
            let ids = world.server.publish(count: 3)
            #expect(try await world.poll(after: "0").planIDs == [ids[2]])
            #expect(try await world.poll(after: ids[0], before: ids[2]).planIDs.isEmpty)
        }
    }

    @Test func claimBeforeIsTheNewestOneBelowAfterID() async throws {
        try await TestWorld.run(.endorser, { $0.planCount = 1 }) { world async throws in
            let ids = world.server.publish(count: 3)
            func before(_ after: String) async throws -> String? {
                let item = try #require(try await world.poll(after: after).items.first)
                return (item["wrappedClaimBefore"] as? [String: Any])?["id"] as? String
            }
            #expect(try await before("0") == nil)
            #expect(try await before(ids[0]) == nil)
            #expect(try await before(ids[1]) == ids[0])
        }
    }

    @Test(arguments: [
        (#"{"planIds":[]}"#, 400, #"{"error":"afterId parameter is required"}"#),
        (#"{"planIds":[],"afterId":""}"#, 400, #"{"error":"afterId parameter is required"}"#),
        (#"{"planIds":[],"afterId":"0"}"#, 200, #"{"data":[],"hitLimit":false}"#),
        (#"{"planIds":"x"}"#, 400, #"{"error":"planIds array parameter is required"}"#),
        (#"{}"#, 400, #"{"error":"planIds array parameter is required"}"#),
        ("{", 400, "<h1>400 Error</h1><pre>Unexpected token in JSON</pre>"),
    ])
    func parametersAreCheckedInTheRealOrder(body: String, status: Int, text: String) async throws {
        try await TestWorld.run(.endorser) { world in
            let answer = try await world.probe.post(TestWorld.changes, data: Data(body.utf8))
            #expect(answer.status == status)
            #expect(answer.text == text)
        }
    }

    @Test func bodyWithoutContentTypeIsIgnored() async throws {
        try await TestWorld.run(.endorser) { world in
            let answer = try await world.probe.post(
                TestWorld.changes,
                ["planIds": [], "afterId": "0"],
                headers: ["Content-Type": "text/plain"]
            )
            #expect(answer.text == #"{"error":"planIds array parameter is required"}"#)
        }
    }

    @Test(arguments: [(730, 200), (740, 413)]) func bodyIsLimitedToFortyKilobytes(count: Int, status: Int) async throws
    {
        try await TestWorld.run(.endorser) { world in
            let id = "https://endorser.ch/entity/01GQBE7Q0RQQAGJMEEW6RSGKTF"
            let ids = Array(repeating: "\"\(id)\"", count: count).joined(separator: ",")
            let body = Data(#"{"planIds":[\#(ids)],"afterId":"0"}"#.utf8)
            let answer = try await world.probe.post(TestWorld.changes, data: body)
            #expect(answer.status == status)
            if status == 413 {
                #expect(answer.text == "<h1>413 Error</h1><pre>request entity too large</pre>")
                #expect(answer.header("Content-Type")?.hasPrefix("text/html") == true)
            }
        }
    }

    @Test(arguments: [("POST", TestWorld.acknowledge), ("GET", "/api/v2/time"), ("GET", "/api/v2/plans/batch")])
    func missingEndpointsOfTheRealServerAreNotFound(method: String, path: String) async throws {
        try await TestWorld.run(.endorser) { world in
            let answer = method == "GET" ? try await world.probe.get(path) : try await world.probe.post(path, [:])
            #expect(answer.status == 404)
            #expect(answer.text == #"{"error":"Route not found"}"#)
            #expect(answer.header("X-Server-Time") == nil)
            #expect(answer.header("Date") == "Thu, 01 Jan 2026 00:00:30 GMT")
        }
    }

    @Test func notModifiedIsForGetOnly() async throws {
        try await TestWorld.run(.endorser) { world in
            world.server.publish(count: 1)
            let ids = String(decoding: try JSONEncoder().encode(world.server.planIDs), as: UTF8.self)
            let query = try #require(ids.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let target = "\(TestWorld.changes)?planIds=\(query)&afterId=0"
            let first = try await world.probe.get(target)
            #expect(first.items.count == 1)
            let tag = try #require(first.header("ETag"))
            #expect(tag.hasPrefix("W/\""))
            #expect(try await world.probe.get(target, headers: ["If-None-Match": tag]).status == 304)
            let post = try await world.probe.post(
                TestWorld.changes,
                ["planIds": world.server.planIDs, "afterId": "0"],
                headers: ["If-None-Match": tag]
            )
            #expect(post.status == 200 && post.header("ETag") == tag)
        }
    }

    @Test func offersHaveHitLimitOnlyWhenTrue() async throws {
        try await TestWorld.run(.endorser) { world in
            let ids = world.server.publishOffers(count: 49)
            let short = try await world.probe.get("/api/v2/report/offers")
            #expect(short.object["hitLimit"] == nil)
            #expect(short.items.first?["jwtId"] as? String == ids.last)
            world.server.publishOffers(count: 1)
            #expect(try await world.probe.get("/api/v2/report/offers").object["hitLimit"] as? Bool == true)
        }
    }

    @Test func aGiftThatHonoursAnOfferHasTheRowOfTheRealServer() async throws {
        try await TestWorld.run(.endorser) { world in
            let me = "did:ethr:0x00000000000000000000000000000000000000a1"
            let offer = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
            world.server.publishGive(fulfilling: offer, to: me)
            world.server.publishGive(hasPlan: true, fulfilling: offer, to: me)
            let items = try await world.probe.get("/api/v2/report/gives?recipientDid=\(me)&afterId=0").items
            #expect(items.map { $0["fulfillsType"] as? String } == ["PlanAction", "Offer"])
            #expect(items.map { $0["fulfillsHandleId"] as? String } == [world.server.planIDs[0], offer])
            let links = items.map { ($0["fullClaim"] as? [String: Any])?["fulfills"] as? [[String: Any]] }
            #expect(links.map { $0?.last?["identifier"] as? String } == [offer, offer])
        }
    }

    @Test func giftsAndOffersToProjectsHaveTheRowsOfTheRealServer() async throws {
        try await TestWorld.run(.endorser, { $0.planCount = 60 }) { world in
            let me = "did:ethr:0x00000000000000000000000000000000000000a1"
            let gives = world.server.publishGives(count: 60, to: me)
            let offers = world.server.publishOffers(count: 2, to: me)
            let mine = try await world.probe.get("/api/v2/report/gives?recipientDid=\(me)&afterId=0")
            #expect(mine.items.compactMap { $0["jwtId"] as? String } == Array(gives.suffix(50).reversed()))
            #expect(mine.object["hitLimit"] as? Bool == true)
            let others = try await world.probe.get("/api/v2/report/gives?recipientDid=did:ethr:0xb0")
            #expect(others.items.isEmpty && others.object["hitLimit"] == nil)

            let plans = "%5B%22\(world.server.planIDs[1])%22%5D"
            let toPlans = try await world.probe.get("/api/v2/report/givesToPlans?planIds=\(plans)")
            #expect(toPlans.items.compactMap { $0["jwtId"] as? String } == [gives[1]])
            let give = try #require(toPlans.items.first)
            #expect(give["fulfillsPlanHandleId"] as? String == world.server.planIDs[1])
            #expect(give["recipientDid"] as? String == "did:none:HIDDEN" && give["description"] is String)
            let offersToPlans = try await world.probe.get("/api/v2/report/offersToPlans?planIds=\(plans)")
            let offer = try #require(offersToPlans.items.first)
            #expect(offer["jwtId"] as? String == offers[1] && offer["fulfillsPlanHandleId"] == nil)
            let item = (offer["fullClaim"] as? [String: Any])?["itemOffered"] as? [String: Any]
            let plan = item?["isPartOf"] as? [String: Any]
            #expect(plan?["@type"] as? String == "PlanAction")
            #expect(plan?["identifier"] as? String == world.server.planIDs[1])
            #expect(try await world.probe.get("/api/v2/report/givesToPlans").status == 500)

            let page = try await world.probe.get("/api/v2/report/plans")
            #expect(page.items.count == 50 && page.object["hitLimit"] as? Bool == true)
            #expect(page.items.last?["rowId"] as? Int == 11)
            let rest = try await world.probe.get("/api/v2/report/plans?beforeId=11")
            let oldest = Array(world.server.planIDs.prefix(10).reversed())
            #expect(rest.items.compactMap { $0["handleId"] as? String } == oldest)
        }
    }
}
