import Foundation
import MockEndorser
import Testing

@Suite struct FaultTests {
    @Test func scriptedFaultsPrecedeTheStickyOne() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.script(.status(500, headers: ["X-A": "b"], body: "{}"), .status(502), at: .plansChanged)
            world.server.setStickyFault(.status(503), at: .plansChanged)
            let first = try await world.poll()
            #expect(first.status == 500 && first.header("X-A") == "b" && first.text == "{}")
            #expect(try await world.poll().status == 502)
            #expect(try await world.poll().status == 503)
            #expect(try await world.poll().status == 503)
            #expect(try await world.probe.get("/api/v2/time").status == 200)
            world.server.clearFaults()
            #expect(try await world.poll().status == 200)
        }
    }

    @Test(arguments: [
        (MockDialect.endorser, 500, #""Error: SQLITE_BUSY: database is locked""#), (.endorser, 503, "<html>"),
        (.endorser, 418, #"{"error":"Scripted answer"}"#), (.canonical, 500, #"{"error":"internal_server_error""#),
        (.canonical, 503, #"{"error":"service_unavailable""#),
    ])
    func statusWithoutABodyUsesTheDialectsBody(dialect: MockDialect, status: Int, start: String) async throws {
        try await TestWorld.run(dialect) { world in
            world.server.script(.status(status), at: .plansChanged)
            let answer = try await world.poll()
            #expect(answer.status == status && answer.text.hasPrefix(start))
        }
    }

    @Test func delayAndLatencyPostponeResponses() async throws {
        try await TestWorld.run(.canonical, { $0.latency = .milliseconds(20) }) { world in
            world.server.script(.delay(.milliseconds(40)), at: .time)
            let clock = ContinuousClock()
            let delayed = try await clock.measure { _ = try await world.probe.get("/api/v2/time") }
            #expect(delayed >= .milliseconds(60))
            let usual = try await clock.measure { _ = try await world.probe.get("/api/v2/time") }
            #expect(usual >= .milliseconds(20))
        }
    }

    @Test func dripSendsTheWholeBodyInPieces() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.script(.dripBody(chunkBytes: 20, every: .milliseconds(20)), at: .plansChanged)
            var answer = Answer()
            let time = try await ContinuousClock().measure { answer = try await world.poll() }
            #expect(answer.isComplete && answer.items.isEmpty && answer.object["hitLimit"] != nil)
            let pieces = (answer.body.count + 19) / 20
            #expect(pieces > 2 && time >= .milliseconds(20 * (pieces - 1)))
        }
    }

    @Test func resetsTruncateTheResponse() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.publish(count: 10)
            world.server.script(.resetBeforeHead, .resetMidBody(afterBytes: 100), at: .plansChanged)
            let none = try await world.poll()
            #expect(none.status == 0 && !none.isComplete)
            let part = try await world.poll()
            #expect(part.status == 200 && part.body.count == 100 && !part.isComplete)
            #expect(try await world.poll().items.count == 10)
        }
    }

    @Test func rawBytesAreSentUnchanged() async throws {
        try await TestWorld.run(.canonical) { world in
            let text = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"
            let bytes = Array(text.utf8)
            world.server.script(
                .raw(bytes + [99, 100], then: .open),
                .raw(bytes, then: .close),
                .raw(Array("HTTP/1.1 204 N\r\n\r\n".utf8), then: .drip(every: .milliseconds(1))),
                at: .plansChanged
            )
            let whole = try await world.poll()
            #expect(whole.status == 200 && whole.text == "abcd")
            let part = try await world.poll()
            #expect(part.text == "ab" && !part.isComplete)
            #expect(try await world.poll().status == 204)
            #expect(world.server.remainingFaults(at: .plansChanged) == 0)
        }
    }

    @Test func neverAnswerHoldsTheRequest() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.script(.neverAnswer, at: .time)
            let probe = world.probe
            // Unstructured, because the test cancels it.
            let asking = Task { try await probe.get("/api/v2/time") }
            try await world.server.waitForRequests(1, to: .time)
            #expect(try await world.probe.get("/api/v2/time").status == 200)
            asking.cancel()
            #expect((try? await asking.value)?.isComplete != true)
        }
    }

    @Test func malformedResponseIsNotJSON() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.script(.malformedJSON, at: .plansChanged)
            let answer = try await world.poll()
            #expect(answer.status == 200 && answer.isComplete && answer.object.isEmpty && !answer.body.isEmpty)
        }
    }

    @Test(arguments: [true, false]) func oversizedBodyHasTheRequestedLength(declaresLength: Bool) async throws {
        try await TestWorld.run(.canonical) { world in
            let fault = MockFault.oversizedBody(bytes: 1_000_000, gzip: false, declaresLength: declaresLength)
            world.server.script(fault, at: .plansChanged)
            let answer = try await world.poll()
            #expect(answer.isComplete && answer.body.count >= 1_000_000)
            #expect((answer.header("Content-Length") != nil) == declaresLength)
            #expect(answer.items.isEmpty && answer.object["hitLimit"] as? Bool == false)
        }
    }

    @Test func gzipBombIsSmallUntilItIsUnpacked() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.script(.oversizedBody(bytes: 20 << 20, gzip: true), at: .plansChanged)
            let answer = try await world.poll()
            #expect(answer.header("Content-Encoding") == "gzip")
            #expect(answer.body.count < 64 << 10)
            #expect(try Gunzip.length(of: answer.body) >= 20 << 20)
        }
    }

    @Test func redirectNamesItsTarget() async throws {
        try await TestWorld.run(.canonical) { world in
            world.server.script(.redirect(to: "http://127.0.0.1:1/"), at: .plansChanged)
            let answer = try await world.poll()
            #expect(answer.status == 307 && answer.header("Location") == "http://127.0.0.1:1/")
        }
    }

    @Test(arguments: [
        (MockRetryAfter?.none, String?.none), (.seconds(7), "7"), (.text("soon"), "soon"),
        (.date(in: .seconds(90)), "Thu, 01 Jan 2026 00:03:00 GMT"),
        (.date(in: .seconds(90), form: .rfc850), "Thursday, 01-Jan-26 00:03:00 GMT"),
        (.date(in: .seconds(90), form: .asctime), "Thu Jan  1 00:03:00 2026"),
    ])
    func rateLimitHasRetryAfter(retryAfter: MockRetryAfter?, text: String?) async throws {
        try await TestWorld.run(.endorser, { $0.clockSkew = .seconds(60) }) { world in
            world.server.script(.rateLimited(retryAfter: retryAfter), at: .plansChanged)
            let answer = try await world.poll(after: "0")
            #expect(answer.status == 429 && answer.header("Retry-After") == text)
            #expect(answer.header("Date") == "Thu, 01 Jan 2026 00:01:30 GMT")
        }
    }

    @Test func authenticationFailureFollowsTheDialect() async throws {
        for (dialect, status) in [(MockDialect.canonical, 401), (.endorser, 400)] {
            try await TestWorld.run(dialect) { world async throws in
                world.server.script(.authenticationFailure, at: .plansChanged)
                #expect(try await world.poll(after: "0").status == status)
                #expect(try await world.poll(after: "0").status == 200)
            }
        }
    }

    @Test(arguments: MockDialect.allCases, MockSchemaViolation.allCases)
    func violationChangesThePageAndNothingElse(dialect: MockDialect, violation: MockSchemaViolation) async throws {
        try await TestWorld.run(dialect) { world in
            world.server.publish(count: 3)
            let whole = try await world.poll(after: "0")
            world.server.script(.schemaViolation(violation), at: .plansChanged)
            let broken = try await world.poll(after: "0", before: nil)
            #expect(broken.status == 200 && broken.isComplete && !broken.object.isEmpty)
            #expect(broken.body != whole.body)
            #expect(try await world.poll(after: "0").body == whole.body)
        }
    }

    @Test func stuckPageNeverMoves() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publish(count: 3)
            world.server.setStickyFault(.schemaViolation(.stuckPage), at: .plansChanged)
            let page = try await world.poll(after: ids[1])
            #expect((page.object["pagination"] as? [String: Any])?["nextAfterId"] as? String == ids[1])
        }
        try await TestWorld.run(.endorser) { world in
            world.server.publish(count: 3)
            world.server.setStickyFault(.schemaViolation(.stuckPage), at: .plansChanged)
            let first = try await world.poll(after: "0")
            let second = try await world.poll(after: "0", before: first.planIDs.last)
            #expect(first.body == second.body && first.object["hitLimit"] as? Bool == true)
        }
    }

    @Test func violationsMatchTheirNames() async throws {
        try await TestWorld.run(.canonical) { world async throws in
            let ids = world.server.publish(count: 3)
            func broken(_ violation: MockSchemaViolation) async throws -> Answer {
                world.server.script(.schemaViolation(violation), at: .plansChanged)
                return try await world.poll()
            }
            #expect(try await broken(.missingJWTID).planIDs == Array(ids.dropFirst()))
            #expect(try await broken(.unorderedPage).planIDs == ids.reversed())
            #expect(try await broken(.hitLimitLies).object["hitLimit"] as? Bool == true)
            #expect(try await broken(.missingPagination).object["pagination"] == nil)
            #expect(try await broken(.foreignID).planIDs.first?.count == 26)
            #expect(try await broken(.dataNotArray).object["data"] is [String: Any])
        }
    }
}
