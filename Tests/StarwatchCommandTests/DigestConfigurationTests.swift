import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct DigestConfigurationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("token-secret", to: "daily.token")
    }

    private func load(_ yaml: String) throws -> LoadedConfiguration {
        try ConfigurationLoader(environment: [:], workingDirectory: "/")
            .load(text: yaml, file: "starwatch.yaml", directory: folder.path)
    }

    private static let full = """
        delivery: {sinks: [{name: phone, kind: log}, {name: desk, kind: log}]}
        digests:
          daily:
            times: ["08:00", "17:30"]
            timezone: Europe/Zurich
            fetch:
              method: POST
              url: https://example.org/path-secret?key=query-secret
              headers: {X-Kind: header-secret}
              body: '{"kind": "body-secret"}'
              token_file: daily.token
              timeout: 5s
            window: 10m
            lead: 2m
            ttl: 6h
            title: "Hello {{name}}"
            body: "{{count}} new"
            fallback_title: A
            fallback_body: B
            mode: chained
            on_missing: fallback
            on_empty: skip
            sinks: [desk]
          short: {times: ["00:00"], fetch: {url: https://example.org}}
          found: {times: ["09:00"], poll: starred_projects}
        callbacks:
          ack_delivery: {url: https://example.org/ack-secret, token_file: daily.token}
          heartbeat: {url: https://example.org/beat, interval: 15m, timeout: 8s, headers: {X-A: b}}
        """

    @Test func everySettingIsRead() throws {
        let options = try load(Self.full).options
        let daily = try #require(options.digests.first)
        #expect(daily.times.map(\.description) == ["08:00", "17:30"] && daily.timezone == "Europe/Zurich")
        #expect(daily.fetch.method == .post && daily.fetch.headers == ["X-Kind": "header-secret"])
        #expect(daily.fetch.tokenFile == folder.path + "/daily.token" && daily.lead == .seconds(120))
        #expect(daily.ttl == .seconds(21_600) && daily.title == "Hello {{name}}" && daily.body == "{{count}} new")
        #expect(daily.fallbackTitle == "A" && daily.fallbackBody == "B" && daily.mode == .chained)
        #expect(daily.fetch.timeout == .seconds(5) && daily.onEmpty == .skip)
        #expect(options.callbacks.heartbeat?.timeout == .seconds(8) && options.callbacks.ackDelivery?.timeout == nil)
        #expect(daily.onMissing == .fallback && daily.sinks == ["desk"])
        var short = DigestOptions(name: DigestName("short")!, fetch: FetchOptions(url: "https://example.org"))
        short.times = [DayTime("00:00")!]
        #expect(options.digests[1] == short)
        #expect(options.digests[2].content == .poll(PollName("starred_projects")!) && daily.window == .seconds(600))
        #expect(options.callbacks.heartbeatInterval == .seconds(900) && options.callbacks.reportError == nil)
        #expect(options.callbacks.ackDelivery?.method == .post)
    }

    @Test func whatIsPrintedReadsAsTheSameOptionsButForSecrets() throws {
        let loaded = try load(Self.full)
        let printed = ConfigurationPrinter.yaml(loaded)
        for secret in ["path-secret", "query-secret", "header-secret", "body-secret", "ack-secret", "token-secret"] {
            #expect(!printed.contains(secret), "\(secret)")
        }
        var plain = loaded
        plain.options.digests[0].fetch.url = "https://example.org"
        plain.options.digests[0].fetch.headers = [:]
        plain.options.digests[0].fetch.body = nil
        plain.options.callbacks.ackDelivery?.url = "https://example.org"
        plain.options.callbacks.heartbeat?.url = "https://example.org"
        plain.options.callbacks.heartbeat?.headers = [:]
        let again = try load(ConfigurationPrinter.yaml(plain)).options
        #expect(again.digests == plain.options.digests)
        #expect(again.callbacks == plain.options.callbacks)
        #expect(printed.contains("    lead: 2m  ") || printed.contains("    lead: 2m "))
    }

    @Test func theExampleOfTheDefaultConfigurationIsGood() throws {
        let text = ConfigurationPrinter.defaults
            .replacing("digests: {} ", with: "digests:    ")
            .replacing("\n# daily:", with: "\n  daily:")
            .replacing("\n#   ", with: "\n    ")
        let digest = try #require(try load(text).options.digests.first)
        var expected = DigestOptions(
            name: DigestName("daily")!,
            fetch: FetchOptions(url: "https://example.org/daily.json")
        )
        expected.times = [DayTime("08:00")!, DayTime("17:30")!]
        #expect(digest == expected)
    }

    private static func digest(_ lines: String) -> String {
        "digests:\n  daily:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.org\"}\n    \(lines)"
    }

    @Test(arguments: [
        ("digests: 3", "digests", "must be a section"),
        ("digests: {Daily: {}}", "digests.Daily", "lower-case letters"),
        ("digests: {daily: {}}", "digests.daily", "needs times"),
        ("digests: {daily: {}}", "digests.daily", "needs the source of its content"),
        ("digests: {starred_projects: {}}", "digests.starred_projects", "the name of a poll"),
        (digest("tims: 3"), "digests.daily.tims", "did you mean \"times\"?"),
        (digest("window: 2h"), "digests.daily.window", "at most 1h"),
        (digest("poll: starred_projects"), "digests.daily.poll", "cannot be combined with fetch"),
        ("digests: {daily: {poll: starred_project}}", "digests.daily.poll", "did you mean \"starred_projects\"?"),
        (digest("timezone: Europe/Zurch"), "digests.daily.timezone", "Europe/Zurich"),
        (digest("lead: 14s"), "digests.daily.lead", "at least 15s"),
        (digest("lead: 2h"), "digests.daily.lead", "at most 1h"),
        (digest("ttl: 15d"), "digests.daily.ttl", "at most 14d"),
        (digest("mode: eager"), "digests.daily.mode", "one of prearmed, chained"),
        (digest("on_missing: none"), "digests.daily.on_missing", "one of cached, fallback, skip"),
        (digest("on_empty: hide"), "digests.daily.on_empty", "one of show, skip"),
        ("digests: {d: {fetch: {timeout: 13s}}}", "digests.d.fetch.timeout", "at most 12s"),
        ("digests: {d: {fetch: {timeout: 500ms}}}", "digests.d.fetch.timeout", "at least 1s"),
        ("callbacks: {heartbeat: {url: https://a.org, timeout: 9s}}", "callbacks.heartbeat.timeout", "at most 8s"),
        (digest("sinks: [phne]"), "digests.daily.sinks", "must name sinks of delivery.sinks"),
        (digest("sinks: []"), "digests.daily.sinks", "at least one sink"),
        ("digests: {d: {times: [], fetch: {url: https://a.org}}}", "digests.d.times", "1 to 24"),
        ("digests: {d: {times: [\"8:00\"], fetch: {url: https://a.org}}}", "digests.d.times", "such as \"08:00\""),
        ("digests: {d: {times: [\"08:00\", \"08:00\"]}}", "digests.d.times", "08:00 twice"),
        ("digests: {d: {fetch: {url: http://a.org}}}", "digests.d.fetch.url", "must start with https://"),
        ("digests: {d: {fetch: {url: \"https://u:p@a.org\"}}}", "digests.d.fetch.url", "credentials"),
        ("digests: {d: {fetch: {method: PUT}}}", "digests.d.fetch.method", "one of GET, POST"),
        ("digests: {d: {fetch: {body: '{}'}}}", "digests.d.fetch.body", "needs method POST"),
        ("digests: {d: {fetch: {method: POST, body: '{'}}}", "digests.d.fetch.body", "must be JSON"),
        ("digests: {d: {fetch: {headers: {Authorization: x}}}}", "digests.d.fetch.headers.Authorization", "token_file"),
        ("digests: {d: {fetch: {headers: {Host: x}}}}", "digests.d.fetch.headers.Host", "set by the agent"),
        ("digests: {d: {fetch: {headers: {\"a b\": x}}}}", "digests.d.fetch.headers.a b", "name of a header"),
        ("digests: {d: {fetch: {token_file: nothing}}}", "digests.d.fetch.token_file", "no such file"),
        ("callbacks: {heartbeat: {}}", "callbacks.heartbeat", "needs a url"),
        ("callbacks: {ack_delivery: {url: https://a.org, method: GET}}", "callbacks.ack_delivery.method", "no such"),
        ("callbacks: {ack_delivery: {url: https://a.org, interval: 1h}}", "callbacks.ack_delivery.interval", "no such"),
        ("callbacks: {heartbeat: {url: https://a.org, interval: 1s}}", "callbacks.heartbeat.interval", "at least 1m"),
        ("callbacks: {fetch_content: {}}", "callbacks.fetch_content", "no such setting"),
    ])
    func aWrongSettingIsSaidInOneSentence(yaml: String, path: String, says: String) {
        let error = #expect(throws: ConfigurationFailure.self) { try load(yaml) }
        let found = error?.problems.filter { $0.path == path }.map(\.message) ?? []
        #expect(found.contains { $0.contains(says) }, "\(error?.lines ?? [])")
        #expect(found.allSatisfy { $0.hasSuffix(".") || $0.hasSuffix("?") })
    }

    @Test func seventeenDigestsAreTooMany() {
        let all = (1...17).map { "  d\($0): {times: [\"08:00\"], fetch: {url: https://a.org}}" }
        let error = #expect(throws: ConfigurationFailure.self) { try load("digests:\n" + all.joined(separator: "\n")) }
        #expect(error?.problems.first?.message.contains("at most 16 digests") == true)
    }

    @Test func nextRunsTakesADigestAndPutsItsTimesInOrder() throws {
        let digest = try #require(try load(Self.full).options.digests.first)
        let runs = try NextRuns(digest, after: Timestamp(iso8601: "2026-03-28T12:00:00Z")!, count: 3)
        #expect(
            runs.text == """
                2026-03-28T17:30:00+01:00  2026-03-28T16:30:00Z
                2026-03-29T08:00:00+02:00  2026-03-29T06:00:00Z
                2026-03-29T17:30:00+02:00  2026-03-29T15:30:00Z
                """
        )
    }
}

extension DigestOptions {
    /// The request for the content of one that has one.
    var fetch: FetchOptions {
        get { content.fetch! }
        set { content = .request(newValue) }
    }
}
