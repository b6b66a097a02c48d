import Starwatch
import StarwatchCore

extension ConfigurationTable {
    static var digests: Entry<AgentOptions> {
        Entry(named: "digests", \.digests, "at most \(maximumParts); notifications at fixed times", example) {
            Entry("times", \.times, as: times.needed("needs times, such as [\"08:00\", \"17:30\"]; add them."))
            Entry(
                "timezone",
                \.timezone,
                as: .text(ValueRules.timezone),
                "an IANA name; null: this machine's time zone"
            )
            Entry("window", \.window, as: .duration(.zero, .hours(1)), "range of this installation's fixed delay")
            Entry("poll", \.poll, as: pollName, "replaces fetch; fields: {{count}}, {{projects}}, {{names}}")
            Entry(optional: "fetch", \.fetched, FetchOptions(url: "")) {
                Entry("method", \.method, as: .choice())
                request(\.self, atMost: .seconds(12))
                Entry("body", \.body, as: .text(ValueRules.json).secret, "JSON, for method POST")
            }
            Entry("lead", \.lead, as: .duration(.seconds(15), .hours(1)), "time from the fetch to the digest")
            Entry("ttl", \.ttl, as: .duration(.seconds(60), .days(14)), "maximum age; null: derived from times")
            Entry("title", \.title, as: .text(), "{{name}} is a field of the content")
            Entry("body", \.body, as: .text())
            Entry("mode", \.mode, as: .choice(), "chained: scheduled only after the fetch")
            Entry("on_missing", \.onMissing, as: .choice(), "fallback: cached content, else the fallback texts")
            Entry("on_empty", \.onEmpty, as: .choice(), "when the content has nothing in it")
            Entry("fallback_title", \.fallbackTitle, as: .text())
            Entry("fallback_body", \.fallbackBody, as: .text())
            Entry("sinks", \.sinks, as: .list, "names; null: all")
        } check: { digest, options, section in
            checkDigest(digest, options, section)
        }
    }

    /// Times of the day, 1 to 24, each once.
    static var times: Rule<[DayTime]> {
        let print = { (times: [DayTime]) -> String in "[\(times.map { "\"\($0)\"" }.joined(separator: ", "))]" }
        return Rule<[DayTime]>(print: print) { field in
            // A text with times, such as "daily at 08:00", means a list of them.
            let meant = (field.text ?? "").split { $0 == " " || $0 == "," }.compactMap { DayTime(String($0)) }
            if !meant.isEmpty { return field.reject("must be a list; write \(print(meant)).") }
            guard let texts = Rule<[String]>.list.read(field) else { return nil }
            let times = texts.compactMap(DayTime.init)
            guard times.count == texts.count else {
                return field.reject("must be times of the day such as \"08:00\", in quotes.")
            }
            return times
        }
        .checked(limits: "1 to 24") { times, _ in
            let repeated = times.first { time in times.count { $0 == time } > 1 }
            if let repeated { return "names \(repeated) twice; remove one." }
            return (1...24).contains(times.count) ? nil : "must name 1 to 24 times of the day."
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
        if PollName(digest.name) == .canary { section.report("is the name of synthetic changes; choose another one.") }
        if section.has("poll"), section.has("fetch") {
            section.report("cannot be combined with fetch; keep one of the two.", at: "poll")
        }
        if let poll = digest.poll, !polls.contains(poll.rawValue) {
            let tail = Suggestion.tail(for: poll.rawValue, among: polls)
            section.report("is not one of the polls\(tail)", at: "poll")
        }
        if !section.has("poll"), !section.has("fetch") {
            section.report("needs the source of its content: poll: NAME, or fetch with a url; add one.")
        }
        if let ttl = digest.ttl, ttl < digest.lead {
            section.report("is shorter than lead, so the content is too old when it is shown; raise ttl.", at: "ttl")
        }
        checkTemplates(digest, section)
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

    /// Reports a variable that the digest of a poll does not have. The content of a request can have any.
    private static func checkTemplates(_ digest: DigestOptions, _ section: SettingsField) {
        guard digest.poll != nil else { return }
        let known = ["count", "projects", "names"]
        for (key, text) in [("title", digest.title), ("body", digest.body)] {
            if let name = TextTemplate(text).variables.first(where: { !known.contains($0) }) {
                let tail = Suggestion.nearest(to: name, among: known).map { "; did you mean {{\($0)}}?" }
                let all = known.map { "{{\($0)}}" }.joined(separator: ", ")
                section.report("has an unknown variable\(tail ?? "; a poll has \(all).")", at: key)
            } else if let match = text.firstMatch(of: /\{(count|projects|names)\}/), !text.contains("{{") {
                section.report("has a variable in single braces; write {{\(match.1)}}.", at: key)
            }
        }
    }

    static var callbacks: Entry<AgentOptions> {
        Entry("callbacks", \.callbacks, "POST requests that report on digests") {
            Entry(optional: "ack_delivery", \.ackDelivery, .post, "for each digest shown") {
                request(\.self, atMost: .seconds(8))
            }
            Entry(optional: "report_error", \.reportError, .post, "for each failed digest or fetch") {
                request(\.self, atMost: .seconds(8))
            }
            let interval = DurationText.format(Heartbeat().interval)
            Entry(optional: "heartbeat", \.beat, Heartbeat(), "while the agent runs, every \(interval)") {
                request(\.request, atMost: .seconds(8))
                Entry("interval", \.interval, as: .duration(.seconds(60), .days(7)))
            }
        }
    }

    /// The settings of a request. The path of a URL and a header can be a credential, so both are secret.
    @SettingsBuilder<Root> private static func request<Root>(
        _ path: WritableKeyPath<Root, FetchOptions>,
        atMost limit: Duration
    ) -> [Entry<Root>] {
        Entry("url", path.appending(path: \.url), as: .secretURL.needed("needs a url; add it."))
        Entry("headers", path.appending(path: \.headers), as: headers, "without credentials")
        Entry("token_file", path.appending(path: \.tokenFile), as: .secretFile(.token), "sent as a bearer token")
        Entry("timeout", path.appending(path: \.timeout), as: .duration(.seconds(1), limit), "null: the maximum")
    }

    /// Headers of a request. A value can be a credential that the header's name does not give away.
    private static var headers: Rule<[String: String]> {
        let print = { (headers: [String: String]) in
            headers.keys.sorted().map { "\(ConfigurationPrinter.scalar($0)): <secret>" }.joined(separator: ", ")
        }
        return Rule(print: { "{\(print($0))}" }) { field in
            field.section?.fields.reduce(into: [:]) { headers, entry in
                headers[entry.key] = Rule<String>.text { ValueRules.header(entry.key, $0) }.read(entry)
            }
        }
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
