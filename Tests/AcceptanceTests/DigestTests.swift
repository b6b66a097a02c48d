import Foundation
import MockEndorser
import Testing

/// The built agent with digests at the next two minutes.
@Suite(.serialized) struct DigestTests {
    @Test func aDigestIsFetchedShownOnceAndSkippedWhenStaleThoughTheAgentIsKilled() async throws {
        let mock = MockServer(options: MockServerOptions())
        try await mock.start()
        mock.content = #"{"count": 3, "who": "canary-of-content"}"#
        let workspace = try Workspace()
        let (first, second) = Self.minutes()
        let configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: TestConfiguration.webhook(mock.url) + "\n      timeout: 2s",
            logLevel: "info"
        )
        let yaml =
            configuration.yaml(in: workspace) + """
                digests:
                  early:
                    times: ["\(first)"]
                    timezone: UTC
                    fetch: {url: "\(mock.url)/content"}
                    lead: 15s
                    body: "{{count}} new for {{who}}"
                  stale:
                    times: ["\(second)"]
                    timezone: UTC
                    fetch: {url: "\(mock.url)/content"}
                    lead: 15s
                    ttl: 1m
                callbacks:
                  ack_delivery: {url: "\(mock.url)/callback?of=delivery"}
                  report_error: {url: "\(mock.url)/callback?of=error"}

                """
        try workspace.write(yaml, to: "starwatch.yaml")
        let (config, database) = (workspace.path("starwatch.yaml"), workspace.path("starwatch.db"))
        mock.setStickyFault(.neverAnswer, at: .hook)
        var agent = try await RunningAgent(config: config, in: workspace)

        // At the start there is no content; before the time of the first it is confirmed.
        let fetched = await eventually { mock.requestCount(of: .content) >= 2 ? true : nil }
        #expect(fetched == true)
        #expect(mock.requests(to: .content).map { $0.header("If-None-Match") != nil } == [false, true])
        let token = await eventually {
            try? Database.read(
                database,
                "SELECT token FROM notif_deliveries WHERE digest = 'early' AND text_kind = 'fresh' ORDER BY fire_at"
            )
        }
        mock.setStickyFault(.status(500), at: .content)

        // Killed while it is armed, and again while the sink is asked.
        await agent.killNow()
        agent = try await RunningAgent(config: config, in: workspace)
        let asked = await eventually { mock.requestCount(of: .hook) >= 1 ? true : nil }
        #expect(asked == true)
        await agent.killNow()
        mock.clearFaults()
        mock.setStickyFault(.status(500), at: .content)
        agent = try await RunningAgent(config: config, in: workspace)
        let shown = await eventually {
            (try? Database.read(database, "SELECT status FROM notif_deliveries WHERE digest = 'early' AND fired_at > 0"))
                == "shown" ? true : nil
        }
        #expect(shown == true)
        #expect(mock.receivedNotifications.map(\.id) == [token])
        #expect(Set(mock.requests(to: .hook).map { $0.header("webhook-id") }) == [token])
        let body = String(decoding: mock.receivedNotifications.first?.bodies.first ?? Data(), as: UTF8.self)
        #expect(body.contains("3 new for canary-of-content\""))

        // The content of the second was confirmed 75 s before its time, and may be 60 s old.
        let pages = agent.pages
        let skipped = await eventually {
            (try? await pages.metric("starwatch_digest_deliveries_total{status=\"skipped_stale\"}")) == 1 ? true : nil
        }
        #expect(skipped == true)
        #expect(mock.receivedNotifications.count == 1)
        // One attempt each, restarts or not.
        #expect(mock.requestCount(of: .content) == 3)
        let told = await eventually {
            let isComplete = (try? Self.errors(mock)).map { $0.contains("fetch_failed") && $0.contains("stale") }
            return isComplete == true && Set(mock.requests(to: .callback).compactMap(\.query)).count == 2 ? true : nil
        }
        #expect(told == true)

        let list = try await starwatch("digests", "--config", config)
        #expect(list.status == 0)
        #expect(list.output.contains("shown") && list.output.contains("skipped_stale"))
        let next = try await starwatch("next-runs", "early", "--count", "1", "--config", config)
        #expect(next.output.contains("T\(first):00Z"))
        // By hand: the fetch fails, and what there is is shown.
        let refused = try await starwatch("digests", "fetch", "early", "--config", config)
        #expect(refused.status == 1 && refused.output.contains("early: refused"))
        let byHand = try await starwatch("digests", "show", "early", "--config", config)
        #expect(byHand.status == 0 && byHand.output.contains("early: delivered as ntf_"))
        #expect(mock.receivedNotifications.count == 2)
        let page = try await pages.get("/")
        #expect(page.contains(">Digests</caption>") && page.contains(">Shown</span>"))
        // The log must not contain the digest's content.
        let log = agent.logText
        #expect(log.contains("digest.shown") && !log.contains("canary-of-content"))
        #expect(await agent.stop() == 0)
        mock.clearFaults()
        let alone = try await starwatch("digests", "fetch", "early", "--config", config)
        #expect(alone.status == 0 && alone.output.contains("early: not_modified"))
        #expect(try Database.booksBalance(database))
        try await mock.stop()
    }

    private static func errors(_ mock: MockServer) throws -> [String] {
        struct Event: Decodable { var error_code: String? }
        return try mock.requests(to: .callback).filter { $0.query == "of=error" }
            .compactMap { try JSONDecoder().decode(Event.self, from: $0.body).error_code }
    }

    /// The first minute that is at least a minute away, so that a slow start is over before its lead, and the one after it.
    static func minutes() -> (String, String) {
        let first = (Int(Date().timeIntervalSince1970) + 60 + 59) / 60
        func text(_ minute: Int) -> String {
            let (hour, rest) = (minute / 60 % 24, minute % 60)
            return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
        }
        return (text(first), text(first + 1))
    }
}
