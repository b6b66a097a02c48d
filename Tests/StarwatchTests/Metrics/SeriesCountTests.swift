import MockEndorser
import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

@Suite struct SeriesCountTests {
    private func make(polls: Int, sinks: Int, first: String = "starred_projects") throws -> AgentMetrics {
        try AgentMetrics.make(
            polls: (0..<polls).map { $0 == 0 ? first : "poll\($0)" },
            sinks: (0..<sinks).map { "sink\($0)" },
            now: { ManualClock.start }
        )
    }

    private func page(_ metrics: AgentMetrics) async -> MetricsPage {
        MetricsPage(await metrics.registry.render(.text))
    }

    @Test func theNumberOfSeriesIsAFunctionOfPollsAndSinks() async throws {
        let one = try make(polls: 1, sinks: 1)
        let base = one.registry.seriesCount
        let perPoll = try make(polls: 2, sinks: 1).registry.seriesCount - base
        let perSink = try make(polls: 1, sinks: 2).registry.seriesCount - base
        let shown = await page(one)
        #expect(perPoll == shown.values.keys.filter { $0.labels["poll"] == "starred_projects" }.count)
        #expect(
            perSink == shown.values.keys.filter { $0.labels["sink"] == "sink0" || $0.labels["target"] == "sink0" }.count
        )
        #expect(perPoll > 0 && perSink > 0)
        for (polls, sinks) in [(1, 1), (2, 1), (1, 2), (3, 5), (16, 16)] {
            let metrics = try make(polls: polls, sinks: sinks)
            let expected = base + (polls - 1) * perPoll + (sinks - 1) * perSink
            #expect(metrics.registry.seriesCount == expected)
            let shown = await page(metrics)
            #expect(shown.values.count == expected)
            #expect(shown["starwatch_metrics_series"] == Double(expected))
        }
    }

    @Test func namesDoNotMatter() throws {
        #expect(
            try make(polls: 2, sinks: 2).registry.seriesCount
                == make(polls: 2, sinks: 2, first: "other").registry.seriesCount
        )
    }

    @Test func theLargestConfigurationStaysSmall() throws {
        #expect(try make(polls: 16, sinks: 16).registry.seriesCount < 5000)
    }

    @Test func moreNamesThanSixteenAreRefused() {
        #expect(throws: TelemetryError.self) { try make(polls: 17, sinks: 1) }
        #expect(throws: TelemetryError.self) { try make(polls: 1, sinks: 17) }
    }

    @Test(arguments: MockDialect.allCases)
    func noSeriesComesOrGoesWithTraffic(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent()
            let before = Set(await agent.page().values.keys)
            world.mock.script(.status(500), .rateLimited(retryAfter: .seconds(3)), .malformedJSON, at: .plansChanged)
            for _ in 0..<4 {
                _ = try await agent.runPoll(World.starred)
                world.clock.advance(by: .seconds(100))
                world.mock.publish(count: 7)
            }
            _ = try await agent.changeStars(StarsChange(operation: .add, planIDs: ["plan_new"]))
            _ = try await agent.setIdentity(World.other)
            _ = try await agent.runPoll(World.starred)
            let after = await agent.page()
            // The endpoints that only some servers have appear with their first request, each with all its series.
            let added = Set(after.values.keys).subtracting(before)
            #expect(before.isSubset(of: after.values.keys))
            #expect(Set(added.compactMap { $0.labels["endpoint"] }) == (dialect == .canonical ? ["acknowledge"] : []))
            #expect(added.allSatisfy { $0.labels["endpoint"] != nil })
            #expect(after["starwatch_metrics_series"] == Double(after.values.count))
            // Neither does anything personal become part of one.
            let labels = Set(after.values.keys.flatMap { $0.labels.values })
            #expect(labels.allSatisfy { !$0.contains("did:") && !$0.contains("://") && $0.count < 64 })
        }
    }
}

@Suite struct MetricFeatureTests {
    private func names(_ change: (inout AgentOptions) -> Void = { _ in }) throws -> (count: Int, names: Set<String>) {
        var options = AgentOptions()
        options.polls = [PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)]
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        change(&options)
        let registry = try AgentMetrics.make(
            polls: options.polls.map(\.name.rawValue),
            sinks: options.delivery.sinks.map(\.name),
            features: MetricFeatures(options),
            now: { ManualClock.start }
        ).registry
        return (registry.seriesCount, Set(MetricsPage(registry.page(.text)).values.keys.map(\.name)))
    }

    @Test(arguments: DialectChoice.allCases)
    func onePollAndOneSinkHaveFewerThan500Series(dialect: DialectChoice) throws {
        let webhook = SinkOptions.Kind.webhook(
            url: "https://hook.example",
            secretFile: "/secret",
            timeout: .seconds(10)
        )
        for kind in [.log, webhook] {
            let count = try names { options in
                options.server.dialect = dialect
                options.delivery.sinks[0].kind = kind
            }.count
            #expect(count < 500)
        }
    }

    @Test func theVersionOfTimeZonesIsShownWhereOneIsFollowed() throws {
        func isShown(_ change: (inout AgentOptions) -> Void) throws -> Bool {
            try names(change).names.contains("starwatch_time_zone_data_info")
        }
        #expect(try !isShown { $0.polls[0].timing = .cron("0 8 * * *", timezone: "UTC") })
        #expect(try isShown { $0.polls[0].timing = .cron("0 8 * * *", timezone: "Europe/Zurich") })
        #expect(try isShown { $0.delivery.sinks[0].hours = QuietHours("22:00-07:00").map(SinkHours.quiet) })
    }

    @Test func seriesThatNothingCountsAreNotShown() throws {
        func count(_ change: (inout AgentOptions) -> Void) throws -> Int { try names(change).count }
        let plain = try count { _ in }
        // A server reached without TLS has no handshakes, and a sink that sends no request no HTTP status.
        #expect(try count { $0.server.url = "http://127.0.0.1" } < plain)
        #expect(
            try count { $0.delivery.sinks[0].kind = .ntfy(url: "https://ntfy.example", topic: "t", tokenFile: nil) }
                > plain
        )
        // Only a server with these endpoints, or the configuration, makes the agent use them.
        #expect(try count { $0.server.dialect = .canonical } > plain)
        #expect(try count { $0.acknowledge.mode = .server } > plain)
        #expect(try count { $0.clock.source = .timeEndpoint } > plain)
    }

    @Test func familiesOfFeaturesThatAreNotConfiguredDoNotAppear() throws {
        let (_, plain) = try names()
        #expect(!plain.contains { $0.contains("_digest_") || $0.contains("_callback_") || $0.contains("_host_poll") })
        let (_, digests) = try names { options in
            options.digests = [DigestOptions(name: DigestName("daily")!, fetcher: "news")]
            options.callbacks.heartbeat = FetchOptions(url: "http://127.0.0.1/")
        }
        #expect(digests.contains("starwatch_digest_prefetches_total"))
        #expect(digests.contains("starwatch_callback_events_total"))
    }

    @Test func refusalsOfTheControlAPIAppearWithItsAddressOrWhenTheyCount() throws {
        let name = "starwatch_control_refused_total"
        #expect(try names().names.contains(name) == false)
        #expect(try names { $0.control.listen = "127.0.0.1:9465" }.names.contains(name))
        let features = MetricFeatures(AgentOptions())
        let metrics = try AgentMetrics.make(polls: [], sinks: [], features: features, now: { ManualClock.start })
        metrics.controlRefused[.host].increment()
        #expect(MetricsPage(metrics.registry.page(.text))[name, ["reason": "host"]] == 1)
    }

    @Test func refusalsOfHTTPListenAppearWhenTheyCountAlsoWithoutAWebConfiguration() throws {
        let features = MetricFeatures(AgentOptions())
        let metrics = try AgentMetrics.make(polls: [], sinks: [], features: features, now: { ManualClock.start })
        metrics.httpRefused[.host].increment()
        let page = MetricsPage(metrics.registry.page(.text))
        #expect(page["starwatch_http_refused_total", ["reason": "host"]] == 1)
    }

    @Test func aWebConfigurationHasMetricsAndACertificateOnceItIsKnown() throws {
        let name = "starwatch_certificate_expiry_timestamp_seconds"
        #expect(try !names().names.contains { $0.contains("_web_config_") || $0.contains("_http_refused_") })
        var options = AgentOptions()
        options.http.webConfigFile = "web.yml"
        let metrics = try AgentMetrics.make(
            polls: [],
            sinks: [],
            features: MetricFeatures(options),
            now: { ManualClock.start }
        )
        func page() -> MetricsPage { MetricsPage(metrics.registry.page(.text)) }
        #expect(page()["starwatch_web_config_last_reload_successful", ["port": "http"]] == 0)
        #expect(page()["starwatch_http_refused_total", ["reason": "password"]] == 0)
        #expect(page()[name, ["of": "port:http"]] == nil)
        metrics.problems.certificates.show(Timestamp(seconds: 1_800_000_000), of: .port("http"))
        #expect(page()[name, ["of": "port:http"]] == 1_800_000_000)
        #expect(page()[name, ["of": "port:control"]] == nil)
        metrics.problems.certificates.show(nil, of: .port("http"))
        #expect(page()[name, ["of": "port:http"]] == nil)
    }

    @Test func offersAppearWithAPollOfOffers() async throws {
        func endpoints(_ kind: PollKind) throws -> Set<String> {
            var options = AgentOptions()
            options.polls = [PollOptions(name: PollName("one")!, kind: kind)]
            let metrics = try AgentMetrics.make(
                polls: ["one"],
                sinks: [],
                features: MetricFeatures(options),
                now: { ManualClock.start }
            )
            return Set(MetricsPage(metrics.registry.page(.text)).values.keys.compactMap { $0.labels["endpoint"] })
        }
        #expect(try endpoints(.starredProjects) == ["plans_changed"])
        #expect(try endpoints(.offersToMe) == ["offers_to_me"])
        #expect(try endpoints(.givesToMyProjects) == ["plans", "gives_to_plans"])
        #expect(try endpoints(.json) == ["list"])
    }

    @Test func hostPollsAppearAtTheirFirstUseWithTheirCounts() throws {
        let metrics = try AgentMetrics.make(
            polls: [],
            sinks: [],
            features: MetricFeatures(AgentOptions()),
            now: { ManualClock.start }
        )
        let before = metrics.registry.seriesCount
        metrics.host.ended(.ok, after: .seconds(1))
        metrics.showHostPolls()
        metrics.showHostPolls()
        #expect(metrics.registry.seriesCount > before)
        let page = MetricsPage(metrics.registry.page(.text))
        #expect(page["starwatch_host_poll_seconds_count"] == 1)
    }
}
