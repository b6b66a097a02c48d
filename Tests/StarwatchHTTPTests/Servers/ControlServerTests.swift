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
            let sent = try await client.perform(ControlAPI.listSentNotifications, query).notifications
            #expect(sent == [Sample.sent("ntf_1")])
            (query.before, query.limit) = (9, 3)
            #expect(try await client.perform(ControlAPI.listSentNotifications, query).notifications.count == 1)
            #expect(try await client.perform(ControlAPI.showNotification, "ntf/ 2").id == "ntf/ 2")
            let chosen = ChosenAction(.snooze, on: "ntf_2")
            #expect(try await client.perform(ControlAPI.actOnNotification, chosen).action == .snooze)
            #expect(try await client.perform(ControlAPI.showShortlink, shortlink).changes.map(\.plan) == ["plan"])
            #expect(
                try await client.perform(ControlAPI.listNotifications, query).notifications.map(\.sequence) == [2, 1]
            )
        }
        #expect(
            agent.now.calls == [
                "GET /api/v1/notifications/sent?limit=100", "GET /api/v1/notifications/sent?limit=3&before=9",
                "GET /api/v1/notifications/ntf%2F%202", "POST /api/v1/notifications/ntf_2/actions/snooze_1h",
                "GET /api/v1/shortlinks/abc", "GET /api/v1/notifications?limit=3&before=9",
            ]
        )
    }

    @Test func everyOperationReachesTheAgentAndItsAnswerComesBack() async throws {
        let agent = FakeAgent { $0.status = StatusPageTests.degraded }
        try await withControl(agent) { _, client in
            #expect(try await client.perform(ControlAPI.status) == StatusPageTests.degraded)
            let report = try await client.perform(ControlAPI.runPoll, PollRun("starred_projects"))
            #expect(report == Sample.report(of: "starred_projects"))
            let hourly = PollRun("starred_projects", unlessWithin: .seconds(3600))
            _ = try await client.perform(ControlAPI.runPoll, hourly)
            await #expect(throws: ControlError.self) {
                try await client.perform(ControlAPI.runPoll, PollRun("starred_projects", unlessWithin: .zero))
            }
            #expect(try await client.perform(ControlAPI.tryPoll, "a").poll == "a")
            var query = OutboxQuery()
            #expect(
                try await client.perform(ControlAPI.listOutbox, query).entries == [Sample.entry(1), Sample.entry(2)]
            )
            (query.state, query.poll, query.before, query.limit) = ("dead", "a poll", 17, 3)
            #expect(try await client.perform(ControlAPI.listOutbox, query).entries.count == 2)
            #expect(try await client.perform(ControlAPI.showOutboxRow, 7) == Sample.entry(7))
            #expect(try await client.perform(ControlAPI.retryOutbox, RowSelection(ids: [1, 2, 3])).changed == 3)
            #expect(try await client.perform(ControlAPI.retryOutbox, RowSelection(allOf: "a poll")).changed == 5)
            let some = DiscardSelection(RowSelection(ids: [4]))
            #expect(try await client.perform(ControlAPI.discardOutbox, some).changed == 1)
            let claimed = DiscardSelection(RowSelection(allOf: nil), in: .claimed)
            #expect(try await client.perform(ControlAPI.discardOutbox, claimed).changed == 5)
            var quarantine = QuarantineQuery()
            #expect(
                try await client.perform(ControlAPI.listQuarantine, quarantine).entries == [Sample.quarantined(3)]
            )
            (quarantine.poll, quarantine.before, quarantine.limit) = ("a poll", 9, 2)
            #expect(try await client.perform(ControlAPI.listQuarantine, quarantine).entries.count == 1)
            #expect(try await client.perform(ControlAPI.discardQuarantine, RowSelection(ids: [7, 8])).changed == 2)
        }
        #expect(
            agent.now.calls == [
                "POST /api/v1/polls/starred_projects/run",
                "POST /api/v1/polls/starred_projects/run?unless_within=3600", "POST /api/v1/polls/a/try",
                "GET /api/v1/outbox?limit=1000", "GET /api/v1/outbox?state=dead&poll=a%20poll&before=17&limit=3",
                "GET /api/v1/outbox/7", #"POST /api/v1/outbox/retry {"ids":[1,2,3]}"#,
                #"POST /api/v1/outbox/retry {"all":true,"poll":"a poll"}"#,
                #"POST /api/v1/outbox/discard {"ids":[4]}"#,
                #"POST /api/v1/outbox/discard {"all":true,"state":"claimed"}"#,
                "GET /api/v1/quarantine?limit=1000", "GET /api/v1/quarantine?poll=a%20poll&before=9&limit=2",
                #"POST /api/v1/quarantine/discard {"ids":[7,8]}"#,
            ]
        )
    }

    @Test func identityStarsAndKeysReachTheAgentToo() async throws {
        let agent = FakeAgent()
        let did = "did:example:alice"
        try await withControl(agent) { _, client in
            #expect(try await client.perform(ControlAPI.setIdentity, IdentityChoice(did: did)).did == did)
            #expect(try await client.perform(ControlAPI.showIdentity).did == did)
            #expect(try await client.perform(ControlAPI.setIdentity, IdentityChoice(did: nil)).did == nil)
            #expect(try await client.perform(ControlAPI.eraseIdentity, IdentityRemoval(did: did)).erased)
            let change = StarsChange(operation: .optIn, planIDs: ["p/1", "p 2"])
            #expect(try await client.perform(ControlAPI.changeStars, change).planIDs == ["p/1", "p 2"])
            let stars = try await client.perform(ControlAPI.listStars)
            #expect(stars.planIDs == ["p/1", "p 2"] && stars.names == ["a": "A"])
            #expect(try await client.perform(ControlAPI.listArchivedStars).archived.map(\.planIDs) == [["p/1"]])
            #expect(try await client.perform(ControlAPI.listDigests).digests.isEmpty)
            #expect(try await client.perform(ControlAPI.fetchDigest, "daily").isFresh)
            #expect(try await client.perform(ControlAPI.showDigest, "a/b").notificationID == "ntf_1")
            #expect(try await client.perform(ControlAPI.testSink, "hook").tookMilliseconds == 12)
            let waited = try await client.perform(ControlAPI.clearServerWait)
            #expect(waited.waitedUntil == "2026-01-08T12:00:00.000Z")
            #expect(try await client.perform(ControlAPI.listKeys).encrypted)
            let rotation = SigningKeyRotation(content: [1, 2, 3], emergency: true)
            #expect(try await client.perform(ControlAPI.rotateSigningKey, rotation).used)
            #expect(try await client.perform(ControlAPI.reload).reloaded)
        }
        #expect(
            agent.now.calls == [
                #"PUT /api/v1/identity {"did":"did:example:alice"}"#, "GET /api/v1/identity",
                #"PUT /api/v1/identity {"did":null}"#, #"POST /api/v1/identity/erase {"did":"did:example:alice"}"#,
                #"POST /api/v1/stars {"operation":"opt_in","plan_ids":["p/1","p 2"]}"#, "GET /api/v1/stars",
                "GET /api/v1/stars/archived", "GET /api/v1/digests", "POST /api/v1/digests/daily/fetch",
                "POST /api/v1/digests/a%2Fb/show", "POST /api/v1/sinks/hook/test", "POST /api/v1/server/clear-wait",
                "GET /api/v1/keys", #"POST /api/v1/keys/signing/rotate {"emergency":true,"key":"AQID"}"#,
                "POST /api/v1/reload",
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
        #expect(agent.now.calls == ["POST /api/v1/reload"])
    }

    @Test func namesAreEscapedOnTheWayAndReadOnArrival() async throws {
        let agent = FakeAgent()
        try await withControl(agent) { _, client in
            _ = try await client.perform(ControlAPI.runPoll, PollRun("a/b ?#%é"))
            var query = OutboxQuery()
            query.state = "x&y=z+1"
            _ = try await client.perform(ControlAPI.listOutbox, query)
        }
        #expect(
            agent.now.calls == [
                "POST /api/v1/polls/a%2Fb%20%3F%23%25%C3%A9/run", "GET /api/v1/outbox?state=x%26y%3Dz%2B1&limit=1000",
            ]
        )
    }

    @Test(arguments: [
        (ControlError.Kind.notFound, UInt(404)), (.invalid, 400), (.conflict, 409), (.failed, 500),
    ])
    func aRefusalKeepsItsKindAndItsWords(kind: ControlError.Kind, status: UInt) async throws {
        let refusal = ControlError(kind, "There is no \"poll\" <of> that name.")
        try await withControl(FakeAgent { $0.failure = refusal }) { path, client in
            let error = await #expect(throws: ControlError.self) { try await client.perform(ControlAPI.reload) }
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
        #expect(agent.now.calls == ["POST /api/v1/polls/starred_projects/run"])
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
