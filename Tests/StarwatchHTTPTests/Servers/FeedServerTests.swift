import NIOHTTP1
import ProgramTestKit
import StarwatchCore
import Synchronization
import Testing

import struct StarwatchStore.FeedRow

@testable import Starwatch
@testable import StarwatchHTTP

/// The stream of events on the wire.
@Suite(.timeLimit(.minutes(5))) struct FeedServerTests {
    private func withControl<Result>(
        _ agent: FakeAgent,
        limits: ConnectionLimits = .patient,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        try await withDirectory { directory in
            let server = HTTPServer(
                agent: agent,
                socketPath: directory + "/s.sock",
                settings: ServerSettings(limits: limits),
                logger: quiet
            )
            return try await withRunning(server) { try await body($0) }
        }
    }

    private func row(_ sequence: Int64, _ text: String = "{}") -> FeedRow {
        FeedRow(sequence: sequence, payload: Array(text.utf8), storedAt: Timestamp(seconds: 0))
    }

    @Test func whatComesIsToldAtOnceAndTheStreamEndsWithTheServer() async throws {
        let agent = FakeAgent()
        let (events, told) = AsyncStream<FeedEvent>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            try await withControl(agent) { path in
                group.addTask {
                    try await ControlClient(socketPath: path, timeout: longestWait).followFeed(after: 4) {
                        told.yield($0)
                    }
                }
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == FeedEvent(sequence: 4, name: "message", data: ""))
                agent.feed(row(5, "{\"a\":1}"))
                #expect(await iterator.next() == FeedEvent(sequence: 5, name: "notification", data: "{\"a\":1}"))
                agent.feed(row(8), row(9))
                #expect(await iterator.next()?.data == "{\"after\":5,\"before\":8}")
                #expect(await iterator.next()?.sequence == 8)
                #expect(await iterator.next()?.sequence == 9)
            }
            // It returns, because the agent ended it in good order.
            try await group.waitForAll()
        }
        #expect(agent.now.calls == ["follow 4"])
    }

    @Test(arguments: [
        ("", "", "from now on"), ("?after=3", "", "3"), ("", "7", "7"), ("?after=3", "7", "7"), ("?after=3", "x", "3"),
    ])
    func aClientSaysWhereItWas(query: String, last: String, place: String) async throws {
        let headers: HTTPHeaders = last.isEmpty ? [:] : ["Last-Event-ID": last]
        let agent = FakeAgent { $0.feedIsOver = true }
        let reply = try await withControl(agent) {
            try await HTTPProbe(address: $0).get("/api/v1/notifications/events" + query, headers)
        }
        #expect(reply.status == 200)
        #expect(reply.headers["Content-Type"] == ["text/event-stream"])
        #expect(reply.headers["Cache-Control"] == ["no-store"])
        #expect(reply.text.hasPrefix("retry: 2000\nid: "))
        #expect(agent.now.calls == ["follow \(place)"])
    }

    @Test(arguments: ["?after=x", "?after=1&after=2", "?since=1"])
    func aPlaceThatIsNoneIs400(query: String) async throws {
        let agent = FakeAgent()
        let reply = try await withControl(agent) {
            try await HTTPProbe(address: $0).get("/api/v1/notifications/events" + query)
        }
        #expect(reply.status == 400)
        #expect(agent.now.calls.isEmpty)
    }

    @Test func aHeadHoldsNoReader() async throws {
        let agent = FakeAgent()
        let reply = try await withControl(agent) {
            try await HTTPProbe(address: $0).send(.HEAD, "/api/v1/notifications/events")
        }
        #expect(reply.status == 200)
        #expect(agent.now.calls.isEmpty)
    }

    @Test func aRefusalIsOneAndNotAStream() async throws {
        let agent = FakeAgent { $0.failure = ControlError(.busy, "Too many.") }
        try await withControl(agent) { path in
            let error = await #expect(throws: ControlError.self) {
                try await ControlClient(socketPath: path).followFeed(after: nil) { _ in }
            }
            #expect(error == ControlError(.busy, "Too many."))
            let reply = try await HTTPProbe(address: path).get("/api/v1/notifications/events")
            #expect(reply.status == 503)
        }
    }

    /// Over TCP, where the system tells only that the client says no more.
    @Test func whoGoesLeavesHisPlaceToOthersAtOnce() async throws {
        let agent = FakeAgent()
        let server = try HTTPServer(agent: agent, listen: "127.0.0.1:0", token: { "x" }, logger: quiet)
        try await withRunning(server) { address in
            let reply = try await HTTPProbe(address: address).beginning(
                of: "/api/v1/notifications/events",
                ["Authorization": "Bearer x"]
            )
            #expect(reply.text == "retry: 2000\nid: 0\n\n")
            // No heartbeat is needed to find out: the clock stands still.
            var ended = agent.readerEnded.stream.makeAsyncIterator()
            _ = await ended.next()
        }
    }

    @Test func whoDoesNotReadIsCutOffAndCanComeBack() async throws {
        let agent = FakeAgent()
        let server = try HTTPServer(
            agent: agent,
            listen: "127.0.0.1:0",
            token: { "x" },
            settings: {
                var settings = ServerSettings()
                settings.limits.answer = .milliseconds(200)
                return settings
            }(),
            logger: quiet
        )
        let long = String(repeating: "x", count: 1_000_000)
        agent.feed(row(1, long), row(2, long), row(3, long), row(4, long), row(5, long), row(6, long), row(7, long))
        try await withRunning(server) { address in
            let request =
                "GET /api/v1/notifications/events?after=0 HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer x\r\n\r\n"
            try await HTTPProbe.holding(address, request) {
                var ended = agent.readerEnded.stream.makeAsyncIterator()
                _ = await ended.next()
            }
            let text = try await HTTPProbe(address: address).get(
                "/api/v1/notifications?limit=3&before=7",
                ["Authorization": "Bearer x"]
            ).text
            #expect(text.hasPrefix("{\"notifications\":[{\"notification\":{\"action_labels\":{"))
        }
        #expect(agent.now.calls == ["follow 0", "GET /api/v1/notifications?limit=3&before=7"])
    }

    private static let secret = "0123456789abcdef"

    private func withPrivateAddress(
        ofMany tokens: [String: DID]? = nil,
        _ body: (HTTPProbe, FakeAgent) async throws -> Void
    ) async throws {
        let agent = FakeAgent { $0.feedTokens = tokens ?? [:] }
        var settings = ServerSettings()
        settings.feeds =
            tokens == nil
            ? FeedAddresses(key: { _ in FeedKey(token: Self.secret) }, isFormer: { $0 == "the-former-token" })
            : .ofAccounts(agent)
        let server = try HTTPServer(
            agent: agent,
            listen: "127.0.0.1:0",
            token: { "x" },
            settings: settings,
            logger: quiet
        )
        try await withRunning(server) { try await body(HTTPProbe(address: $0), agent) }
    }

    @Test func theTokenInTheAddressLetsInToTheFeedAlone() async throws {
        try await withPrivateAddress { probe, agent in
            let atom = try await probe.get("/feed/\(Self.secret)/feed.atom")
            #expect(atom.status == 200)
            // No link has the token, or leads to a page that wants another.
            #expect(atom.text.contains("href=\"feed.atom\"/>") && !atom.text.contains(Self.secret))
            let name = atom.text.split(separator: "\n").first { $0.hasPrefix("<id>") }
            #expect(name == "<id>urn:starwatch:feed</id>" && !atom.text.contains("text/html"))
            #expect(try await probe.get("/feed/\(Self.secret)/feed.json").status == 200)
            for path in ["/feed.atom", "/feed", "/feed/\(Self.secret)", "/feed/\(Self.secret)/openapi.json", "/"] {
                #expect(try await probe.get(path).status == 401, "\(path)")
            }
            #expect(agent.now.calls.count == 2)
        }
    }

    @Test func anotherTokenInTheAddressIsRefusedAndCounted() async throws {
        try await withPrivateAddress { probe, agent in
            for _ in 0..<RefusalCount.limit {
                let reply = try await probe.get("/feed/fedcba9876543210/feed.atom")
                #expect(reply.status == 403 && !reply.text.contains(Self.secret))
            }
            #expect(agent.now.refusals == Array(repeating: .token, count: RefusalCount.limit))
            #expect(try await probe.get("/feed/fedcba9876543210/feed.atom").status == 429)
            // Whoever has the right one is let in all the same.
            #expect(try await probe.get("/feed/\(Self.secret)/feed.atom").status == 200)
        }
    }

    @Test func theUseOfAFormerAddressIsCountedApart() async throws {
        try await withPrivateAddress { probe, agent in
            let reply = try await probe.get("/feed/the-former-token/feed.atom")
            #expect(reply.status == 403 && reply.text.contains("The feed has another address now"))
            #expect(try await probe.get("/feed/fedcba9876543210/feed.atom").status == 403)
            #expect(agent.now.refusals == [.formerToken, .token])
        }
    }

    private static let accounts = (DID("did:ethr:0xa")!, DID("did:ethr:0xb")!)

    @Test func theTokenOfAnAccountLetsInToItsFeedAlone() async throws {
        let tokens = ["0a": Self.accounts.0, "0b": Self.accounts.1]
        try await withPrivateAddress(ofMany: tokens) { probe, agent in
            for (token, account) in tokens.sorted(by: { $0.key < $1.key }) {
                // A name in a header is that of another credential.
                let other: HTTPHeaders = ["Starwatch-Account": Self.accounts.0.rawValue]
                let reply = try await probe.get("/feed/\(token)/feed.atom", other)
                #expect(reply.status == 200 && !reply.text.contains(token))
                #expect(agent.now.callers.last?.account == account)
            }
            for path in ["/feed.atom", "/feed", "/feed/0a", "/api/v1/notifications", "/api/v1/notifications/events"] {
                #expect(try await probe.get(path).status == 401, "\(path)")
            }
            #expect(agent.now.calls.count == 2)
        }
    }

    @Test func aWrongTokenOfAnAccountIsAnUnknownAddressAndIsCounted() async throws {
        try await withPrivateAddress(ofMany: ["0a": Self.accounts.0]) { probe, agent in
            let unknown = try await probe.get("/no/such/page")
            let wrong = try await probe.get("/feed/0b/feed.json")
            #expect(wrong.status == 401 && wrong.text == unknown.text)
            #expect(wrong.headers == unknown.headers)
            #expect(agent.now.refusals == [.token, .token] && agent.now.calls.isEmpty)
            for _ in 1..<RefusalCount.limit { _ = try await probe.get("/feed/0b/feed.atom") }
            #expect(agent.now.lookups == RefusalCount.limit)
            // No token is looked up now, not even the right one. The control token is in no database.
            for token in ["0a", "0b"] { #expect(try await probe.get("/feed/\(token)/feed.atom").status == 429) }
            #expect(agent.now.lookups == RefusalCount.limit)
            #expect(try await probe.get("/feed.atom", ["Authorization": "Bearer x"]).status == 200)
        }
    }

    @Test func withACredentialAHeaderNamesTheAccount() async throws {
        try await withPrivateAddress(ofMany: [:]) { probe, agent in
            let headers: HTTPHeaders = ["Authorization": "Bearer x", "Starwatch-Account": Self.accounts.1.rawValue]
            for path in ["/feed", "/feed.atom", "/feed.json", "/api/v1/notifications"] {
                #expect(try await probe.get(path, headers).status == 200, "\(path)")
                #expect(agent.now.callers.last?.account == Self.accounts.1, "\(path)")
            }
            _ = try await probe.beginning(of: "/api/v1/notifications/events", headers)
            #expect(agent.now.calls.last == "follow from now on")
            #expect(agent.now.callers.last?.account == Self.accounts.1)
        }
    }

    /// A proxy passes on no path of its own, so an absolute address would lead past it.
    @Test func theLinksOfAFeedDoNotDependOnTheWayToIt() async throws {
        try await withPrivateAddress { probe, _ in
            let path = "/feed/\(Self.secret)/feed"
            let direct = try await probe.get(path + ".atom")
            for headers: HTTPHeaders in [
                ["Host": "127.0.0.1"], ["X-Forwarded-Proto": "https"],
                ["X-Forwarded-Host": "evil.example", "X-Forwarded-Prefix": "/starwatch"],
            ] {
                let proxied = try await probe.get(path + ".atom", headers)
                #expect(proxied.status == 200 && proxied.text == direct.text)
                #expect(proxied.headers["ETag"] == direct.headers["ETag"])
            }
            #expect(!direct.text.contains("127.0.0.1") && !direct.text.contains("localhost"))
            let proxied = try await probe.get(
                path + ".json",
                ["Host": "127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/starwatch"]
            )
            #expect(proxied.text.contains(#"https://127.0.0.1/starwatch\#(path).json""#))
            #expect(proxied.headers["Vary"] == ["Host, X-Forwarded-Prefix, X-Forwarded-Proto"])
        }
    }

    @Test func withoutATokenThereIsNoPrivateAddress() async throws {
        let agent = FakeAgent()
        let reply = try await withControl(agent) {
            try await HTTPProbe(address: $0).get("/feed/\(Self.secret)/feed.atom")
        }
        #expect(reply.status == 404)
        #expect(agent.now.calls.isEmpty)
    }

    @Test func theReadOnlyServerHasNoneOfIt() async throws {
        let agent = FakeAgent()
        try await withAdmin(agent) { probe in
            for path in ["/feed", "/feed.atom", "/feed.json", "/api/v1/notifications", "/api/v1/notifications/events"] {
                let reply = try await probe.get(path)
                #expect(reply.status == 404)
            }
            let page = try await probe.get("/")
            #expect(!page.text.contains("href=\"feed\""))
        }
        #expect(agent.now.calls.isEmpty)
    }
}
