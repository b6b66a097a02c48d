import FoundationEssentials
import Glibc
import NIOHTTP1
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite(.timeLimit(.minutes(5)))
struct ControlServerTests {
    @Test func notificationsAndShortlinksReachTheAgentToo() async throws {
        let agent = FakeAgent()
        let shortlink = try #require(Shortlink("abc"))
        try await withControl(agent) { _, client async throws in
            var query = NotificationQuery()
            #expect(try await client.notificationList(query) == [Sample.sent("ntf_1")])
            (query.before, query.limit) = (9, 3)
            #expect(try await client.notificationList(query).count == 1)
            #expect(try await client.notificationShow("ntf/ 2").id == "ntf/ 2")
            #expect(try await client.notificationAct("ntf_2", .snooze).action == .snooze)
            #expect(try await client.shortlinkShow(shortlink).changes.map(\.plan) == ["plan"])
        }
        #expect(
            agent.now.calls == [
                "notifications before 0 limit 100", "notifications before 9 limit 3", "notification ntf/ 2",
                "snooze_1h ntf_2", "shortlink abc",
            ]
        )
    }

    @Test func everyOperationReachesTheAgentAndItsAnswerComesBack() async throws {
        let agent = FakeAgent { $0.status = StatusPageTests.degraded }
        let did = try #require(DID("did:example:alice"))
        try await withControl(agent) { _, client in
            #expect(try await client.status() == StatusPageTests.degraded)
            let report = try await client.runPoll("starred_projects")
            #expect(report.poll == "starred_projects")
            #expect(report.fetched == 3)
            #expect(report.watermarkMoved)
            _ = try await client.runPoll("starred_projects", unlessWithin: .seconds(3600))
            await #expect(throws: ControlError.self) {
                try await client.runPoll("starred_projects", unlessWithin: .zero)
            }
            var query = OutboxQuery()
            #expect(try await client.outboxList(query) == [Sample.entry(1), Sample.entry(2)])
            query.state = "dead"
            query.poll = "a poll"
            query.before = 17
            query.limit = 3
            #expect(try await client.outboxList(query).count == 2)
            #expect(try await client.outboxShow(7) == Sample.entry(7))
            #expect(try await client.outboxRetry([1, 2, 3]) == 3)
            #expect(try await client.outboxDiscard([4]) == 1)
            #expect(try await client.outboxRetryAll(poll: "a poll") == 5)
            #expect(try await client.outboxDiscardAll(poll: nil, in: .dead) == 6)
            #expect(try await client.outboxDiscardAll(poll: "a poll", in: .claimed) == 6)
            var quarantine = QuarantineQuery()
            #expect(try await client.quarantineList(quarantine) == [Sample.quarantined(3)])
            (quarantine.poll, quarantine.before, quarantine.limit) = ("a poll", 9, 2)
            #expect(try await client.quarantineList(quarantine).count == 1)
            #expect(try await client.quarantineDiscard([7, 8]) == 2)
            #expect(try await client.quarantineDiscardAll(poll: "a poll") == 2)
            #expect(try await client.setIdentity(did).did == did.rawValue)
            #expect(try await client.identity().did == did.rawValue)
            #expect(try await client.setIdentity(nil).did == nil)
            let change = StarsChange(operation: .add, planIDs: ["p/1", "p 2"])
            #expect(try await client.changeStars(change) == ["p/1", "p 2"])
            #expect(try await client.stars() == ["p/1", "p 2"])
            #expect(try await client.archivedStars().map(\.planIDs) == [["p/1"]])
            #expect(try await client.digests().isEmpty)
            #expect(try await client.fetchDigest("daily").isFresh)
            #expect(try await client.showDigest("a/b").notificationID == "ntf_1")
            #expect(try await client.clearServerWait().waitedUntil == "2026-01-08T12:00:00.000Z")
            try await client.reload()
        }
        #expect(
            agent.now.calls == [
                "run starred_projects", "run starred_projects unless within 3600.0 seconds",
                "list all", "list dead of a poll before 17 limit 3", "show 7",
                "retry [1, 2, 3]",
                "discard [4]", "retry all of a poll", "discard all dead of every poll", "discard all claimed of a poll",
                "quarantine of every poll before 0 limit 1000", "quarantine of a poll before 9 limit 2",
                "hide [7, 8]", "hide all of a poll",
                "set identity", "identity", "set identity", "stars add", "stars",
                "archived stars", "digests", "fetch digest daily", "show digest a/b", "clear wait", "reload",
            ]
        )
    }

    @Test(arguments: [
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n", "400"),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", "400"),
        ("Content-Length: 1048577\r\n\r\n" + String(repeating: " ", count: 1_048_577), "413"),
    ])
    func aMalformedBodyIs400AndALargeOne413(body: String, status: String) async throws {
        let agent = FakeAgent()
        try await withControl(agent) { path, _ in
            let answer = try await HTTPProbe(address: path).exchange(
                "POST /api/v1/stars HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + body
            )
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(200))")
        }
        #expect(agent.now.calls.isEmpty)
    }

    /// A socket forwarded to a port is open to every page of a browser there.
    @Test func theSocketAnswersNoHostThatSomebodyElsePointsHere() async throws {
        let agent = FakeAgent()
        try await withControl(agent) { path, _ in
            let probe = HTTPProbe(address: path)
            let reply = try await probe.send(.POST, "/api/v1/reload", ["Host": "evil.test"])
            #expect(reply.status == 403)
            #expect(reply.text.contains("http.allowed_hosts") && !reply.text.contains("evil"))
            #expect(try await probe.send(.POST, "/api/v1/reload", ["Host": "127.0.0.1:9465"]).status == 200)
        }
        #expect(agent.now.calls == ["reload"])
    }

    @Test func namesAreEscapedOnTheWayAndReadOnArrival() async throws {
        let agent = FakeAgent()
        try await withControl(agent) { _, client in
            _ = try await client.runPoll("a/b ?#%é")
            var query = OutboxQuery()
            query.state = "x&y=z+1"
            _ = try await client.outboxList(query)
        }
        #expect(agent.now.calls == ["run a/b ?#%é", "list x&y=z+1"])
    }

    @Test(arguments: [
        (ControlError.Kind.notFound, UInt(404)), (.invalid, 400), (.conflict, 409), (.failed, 500),
    ])
    func aRefusalKeepsItsKindAndItsWords(kind: ControlError.Kind, status: UInt) async throws {
        let refusal = ControlError(kind, "There is no \"poll\" <of> that name.")
        try await withControl(FakeAgent { $0.failure = refusal }) { path, client in
            let error = await #expect(throws: ControlError.self) { try await client.reload() }
            #expect(error == refusal)
            let reply = try await HTTPProbe(address: path).send(.POST, "/api/v1/reload")
            #expect(reply.status == status)
        }
    }

    @Test(arguments: [
        ("POST", "/api/v1/outbox/retry", ""), ("POST", "/api/v1/outbox/retry", "{\"ids\":[]}"),
        ("POST", "/api/v1/outbox/retry", "{}"), ("POST", "/api/v1/outbox/discard", "{\"all\":false}"),
        ("POST", "/api/v1/outbox/discard", "{\"all\":true,\"ids\":[1]}"),
        ("POST", "/api/v1/outbox/discard", "{\"ids\":[1],\"poll\":\"alice\"}"),
        ("GET", "/api/v1/outbox?before=alice", ""), ("GET", "/api/v1/outbox?limit=", ""),
        ("POST", "/api/v1/outbox/discard", "{\"ids\":[\"did:example:alice\"]}"), ("PUT", "/api/v1/identity", "{}"),
        ("PUT", "/api/v1/identity", "{\"did\":\"alice did:example:alice\"}"),
        ("POST", "/api/v1/stars", "{\"operation\":\"did:example:alice\",\"plan_ids\":[]}"),
        ("GET", "/api/v1/outbox/x", ""), ("GET", "/api/v1/outbox/+1", ""), ("GET", "/api/v1/outbox/01", ""),
        ("GET", "/api/v1/outbox?limt=3", ""), ("GET", "/api/v1/outbox?limit=1&limit=2", ""),
        ("GET", "/api/v1/notifications?state=dead", ""), ("POST", "/api/v1/outbox/retry", "{\"ids\":[0]}"),
        ("POST", "/api/v1/outbox/retry", "{\"ids\":[1],\"alice\":true}"), ("PUT", "/api/v1/identity", "[]"),
        ("POST", "/api/v1/identity/remove", "{}"), ("POST", "/api/v1/identity/remove", "{\"did\":\"alice\"}"),
        ("POST", "/api/v1/identity/remove", "{\"did\":\"did:example:alice\",\"alice\":1}"),
        ("PUT", "/api/v1/identity", "{\"did\":null,\"alice\":1}"),
        ("POST", "/api/v1/stars", "{\"operation\":\"set\",\"plan_ids\":[],\"alice\":[]}"),
    ])
    func aBodyThatMakesNoSenseIs400AndIsNotRepeated(method: String, path: String, body: String) async throws {
        let agent = FakeAgent()
        let reply = try await withControl(agent) { socket, _ in
            try await HTTPProbe(address: socket).send(.init(rawValue: method), path, body: body)
        }
        #expect(reply.status == 400)
        #expect(reply.text.hasPrefix(#"{"error":{"kind":"invalid","message":""#))
        #expect(!reply.text.contains("alice"))
        #expect(agent.now.calls.isEmpty)
    }

    @Test func aReloadTellsThatTheConnectionEndsWithIt() async throws {
        let reply = try await withControl(FakeAgent()) { socket, _ in
            try await HTTPProbe(address: socket).send(.POST, "/api/v1/reload")
        }
        #expect(reply.headers["Connection"] == ["close"])
    }

    @Test func aBodyOverTheLimitIs413() async throws {
        let reply = try await withControl(FakeAgent()) { socket, _ in
            let body = String(repeating: " ", count: RouteResponder.bodyLimitBytes + 1)
            return try await HTTPProbe(address: socket).send(.POST, "/api/v1/stars", body: body)
        }
        #expect(reply.status == 413)
    }

    @Test(arguments: [
        ("/api/v1/identity", "GET, HEAD, PUT"), ("/api/v1/stars", "GET, HEAD, POST"), ("/api/v1/reload", "POST"),
        ("/api/v1/digests", "GET, HEAD"), ("/api/v1/identity/remove", "POST"),
    ])
    func allowNamesWhatARouteDoes(path: String, allow: String) async throws {
        let reply = try await withControl(FakeAgent()) { socket, _ in
            try await HTTPProbe(address: socket).send(.DELETE, path)
        }
        #expect(reply.status == 405)
        #expect(reply.headers["Allow"] == [allow])
    }

    @Test func theReadOnlyRoutesAreThereToo() async throws {
        let status = try await withControl(FakeAgent()) { socket, _ in
            try await HTTPProbe(address: socket).get("/-/healthy").status
        }
        #expect(status == 200)
    }

    // MARK: - The status page's button

    @Test func thePagesButtonRunsThePollAndShowsThePageAgain() async throws {
        let agent = FakeAgent { $0.status = StatusPageTests.degraded }
        try await withControl(agent) { socket, _ in
            let probe = HTTPProbe(address: socket)
            let page = try await probe.get("/")
            #expect(page.headers["Content-Security-Policy"].first?.contains("form-action 'self'; ") == true)
            #expect(page.headers["Referrer-Policy"] == ["same-origin"])
            #expect(page.text.contains("action=\"api/v1/polls/starred_projects/run\""))
            let reply = try await probe.send(
                .POST,
                "/api/v1/polls/starred_projects/run",
                ["Accept": "text/html,*/*;q=0.8", "Origin": "http://localhost"]
            )
            #expect(reply.status == 303)
            #expect(reply.headers["Location"] == ["../../../../"])
        }
        #expect(agent.now.calls == ["run starred_projects"])
    }

    @Test func aPageOfAnotherOriginCannotPressIt() async throws {
        let agent = FakeAgent()
        try await withControl(agent) { socket, _ in
            for origin in ["https://evil.example", "null", "http://localhost:1", "http://localhost.evil.example"] {
                let reply = try await HTTPProbe(address: socket).send(.POST, "/api/v1/reload", ["Origin": origin])
                #expect(reply.status == 403)
            }
        }
        #expect(agent.now.calls.isEmpty)
    }
}
