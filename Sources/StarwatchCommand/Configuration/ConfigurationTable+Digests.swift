import Starwatch
import StarwatchCore

extension ConfigurationTable {
    static var digests: Setting<AgentOptions> {
        Setting(named: "digests", \.digests, "at most \(maximumParts); notifications at fixed times", example) {
            Setting("times", \.times, .times.needed("needs times, such as [\"08:00\", \"17:30\"]; add them."))
            Setting("timezone", \.timezone, .text(ValueRules.timezone), "an IANA name; null: this machine's time zone")
            Setting("window", \.window, .duration(.zero, .hours(1)), "range of this installation's fixed delay")
            Setting("poll", \.poll, pollName, "replaces fetch; fields: {{count}}, {{projects}}, {{names}}")
            Setting(optional: "fetch", \.fetched, FetchOptions(url: "")) {
                Setting("method", \.method, .choice())
                request(\.self, atMost: .seconds(12))
                Setting("body", \.body, .text(ValueRules.json).secret, "JSON, for method POST")
            }
            Setting("lead", \.lead, .duration(.seconds(15), .hours(1)), "time from the fetch to the digest")
            Setting("ttl", \.ttl, .duration(.seconds(60), .days(14)), "maximum age; null: derived from times")
            Setting("title", \.title, .text(), "{{name}} is a field of the content")
            Setting("body", \.body, .text())
            Setting("mode", \.mode, .choice(), "chained: scheduled only after the fetch")
            Setting("on_missing", \.onMissing, .choice(), "fallback: cached content, else the fallback texts")
            Setting("on_empty", \.onEmpty, .choice(), "when the content has nothing in it")
            Setting("fallback_title", \.fallbackTitle, .text())
            Setting("fallback_body", \.fallbackBody, .text())
            Setting("sinks", \.sinks, .list, "names; null: all")
        } check: { digest, options, section in
            checkDigest(digest, options, section)
        }
    }

    private static var pollName: Rule<PollName> {
        .word("must be the name of a poll.", shown: \.rawValue) { PollName($0) }
    }

    private static var example: [DigestOptions] {
        guard var digest = DigestOptions(named: "daily") else { return [] }
        digest.content = .request(FetchOptions(url: "https://example.org/daily.json"))
        digest.times = ["08:00", "17:30"].compactMap(DayTime.init)
        return [digest]
    }

    private static func checkDigest(_ digest: DigestOptions, _ options: AgentOptions, _ section: SettingsField) {
        let polls = options.polls.map(\.name.rawValue)
        if polls.contains(digest.name.rawValue) { section.report("is the name of a poll; choose a different one.") }
        if section.has("poll"), section.has("fetch") {
            section.report("cannot be combined with fetch; keep one of the two.", at: "poll")
        }
        if let poll = digest.poll, !polls.contains(poll.rawValue) {
            let tail = Suggestion.tail(for: poll.rawValue, among: polls)
            section.report("is not one of the polls\(tail)", at: "poll")
        }
        if let fetch = digest.fetched, fetch.body != nil, fetch.method == .get {
            section.field("fetch").report("needs method POST; set it or remove body.", at: "body")
        }
        let known = options.delivery.sinks.map(\.name)
        for sink in digest.sinks ?? [] where !known.contains(sink) {
            section.report("must name sinks of delivery.sinks\(Suggestion.tail(for: sink, among: known))", at: "sinks")
        }
        if digest.sinks?.isEmpty == true {
            section.report("must name at least one sink; remove the line for all.", at: "sinks")
        }
    }

    static var callbacks: Setting<AgentOptions> {
        Setting("callbacks", \.callbacks, "POST requests that report on digests") {
            Setting(optional: "ack_delivery", \.ackDelivery, .post, "for each digest shown") {
                request(\.self, atMost: .seconds(8))
            }
            Setting(optional: "report_error", \.reportError, .post, "for each failed digest or fetch") {
                request(\.self, atMost: .seconds(8))
            }
            let interval = DurationText.format(Heartbeat().interval)
            Setting(optional: "heartbeat", \.beat, Heartbeat(), "while the agent runs, every \(interval)") {
                request(\.request, atMost: .seconds(8))
                Setting("interval", \.interval, .duration(.seconds(60), .days(7)))
            }
        }
    }

    /// The settings of a request. The path of a URL and a header can be a credential, so both are secret.
    @SettingsBuilder<Root> private static func request<Root>(
        _ path: WritableKeyPath<Root, FetchOptions>,
        atMost limit: Duration
    ) -> [Setting<Root>] {
        Setting("url", path.appending(path: \.url), .secretURL.needed("needs a url; add it."))
        Setting("headers", path.appending(path: \.headers), .headers, "without credentials")
        Setting("token_file", path.appending(path: \.tokenFile), .secretFile, "sent as a bearer token")
        Setting("timeout", path.appending(path: \.timeout), .duration(.seconds(1), limit), "null: the maximum")
    }
}

extension DigestOptions: NamedOptions {
    init?(named text: String) {
        guard let name = DigestName(text) else { return nil }
        self.init(name: name, fetch: FetchOptions(url: ""))
    }

    fileprivate var poll: PollName? {
        get { content.pollName }
        set { if let newValue { content = .poll(newValue) } }
    }

    fileprivate var fetched: FetchOptions? {
        get { content.fetch }
        set { if let newValue { content = .request(newValue) } }
    }
}

extension FetchOptions {
    /// The request of a callback, which always posts.
    fileprivate static var post: FetchOptions {
        var request = FetchOptions(url: "")
        request.method = .post
        return request
    }
}

/// The section `callbacks.heartbeat`, whose values are apart in ``CallbackOptions``.
private struct Heartbeat {
    var request = FetchOptions.post
    var interval = CallbackOptions().heartbeatInterval
}

extension CallbackOptions {
    fileprivate var beat: Heartbeat? {
        get { heartbeat.map { Heartbeat(request: $0, interval: heartbeatInterval) } }
        set {
            heartbeat = newValue?.request
            if let newValue { heartbeatInterval = newValue.interval }
        }
    }
}
