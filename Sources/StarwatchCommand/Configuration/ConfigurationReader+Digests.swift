import Foundation
import Starwatch
import StarwatchCore
import Yams

extension ConfigurationReader {
    static let maximumDigests = 16
    static let maximumTimes = 24

    mutating func readDigests(_ section: SettingsSection) {
        if section.entries.count > Self.maximumDigests {
            section.report("must name at most \(Self.maximumDigests) digests; here are \(section.entries.count).")
        }
        for entry in section.entries {
            let digest = section.section(entry.key)
            if let problem = ValueRules.name(entry.key) {
                digest.report(problem)
            } else if let name = DigestName(entry.key), !digest.isMisplaced {
                if options.polls.contains(where: { $0.name.rawValue == entry.key }) {
                    digest.report("is the name of a poll; choose one of its own.")
                }
                readDigest(name, digest)
            }
        }
    }

    private mutating func readDigest(_ name: DigestName, _ section: SettingsSection) {
        section.allow([
            "times", "timezone", "window", "fetch", "poll", "lead", "ttl", "title", "body", "fallback_title",
            "fallback_body", "mode", "on_missing", "on_empty", "sinks",
        ])
        var digest = readContent(of: name, section)
        digest.times = readTimes(section)
        section.duration("window", &digest.window, atMost: .seconds(3600))
        section.optionalText("timezone", &digest.timezone, check: ValueRules.timezone)
        section.duration("lead", &digest.lead, atLeast: .seconds(15), atMost: .seconds(3600))
        section.optionalDuration("ttl", &digest.ttl, atLeast: .seconds(60), atMost: .days(14))
        section.text("title", &digest.title)
        section.text("body", &digest.body)
        section.text("fallback_title", &digest.fallbackTitle)
        section.text("fallback_body", &digest.fallbackBody)
        section.choice("mode", &digest.mode)
        section.choice("on_missing", &digest.onMissing)
        section.choice("on_empty", &digest.onEmpty)
        if section.has("sinks"), let sinks = section.list("sinks") {
            let known = options.delivery.sinks.map(\.name)
            for sink in sinks where !known.contains(sink) {
                let tail = Suggestion.tail(for: sink, among: known)
                section.report("names no sink of delivery.sinks\(tail)", at: "sinks")
            }
            if sinks.isEmpty { section.report("must name at least one sink; leave it out for all.", at: "sinks") }
            digest.sinks = sinks
        }
        options.digests.append(digest)
    }

    /// What a digest shows: what is fetched, or what a poll has found.
    private func readContent(of name: DigestName, _ section: SettingsSection) -> DigestOptions {
        guard section.has("poll") else {
            return DigestOptions(name: name, fetch: readFetch(section.section("fetch"), postsAlways: false))
        }
        if section.has("fetch") { section.report("stands beside fetch; keep one of the two.", at: "poll") }
        var text = ""
        section.text("poll", &text)
        let known = options.polls.map(\.name)
        guard let poll = PollName(text), known.contains(poll) else {
            section.report("names no poll\(Suggestion.tail(for: text, among: known.map(\.rawValue)))", at: "poll")
            return DigestOptions(name: name, fetch: FetchOptions(url: ""))
        }
        return DigestOptions(name: name, poll: poll)
    }

    private func readTimes(_ section: SettingsSection) -> [DayTime] {
        guard section.has("times") else {
            section.report("needs times, such as [\"08:00\", \"17:30\"]; add them.")
            return []
        }
        guard let texts = section.list("times") else { return [] }
        if texts.isEmpty || texts.count > Self.maximumTimes {
            section.report("must name 1 to \(Self.maximumTimes) times of the day.", at: "times")
        }
        var times: [DayTime] = []
        for text in texts {
            guard let time = DayTime(text) else {
                section.report("must be times of the day such as \"08:00\", in quotes.", at: "times")
                continue
            }
            if times.contains(time) { section.report("names \(time) twice; remove one.", at: "times") }
            times.append(time)
        }
        return times
    }

    mutating func readCallbacks(_ section: SettingsSection) {
        section.allow(["ack_delivery", "report_error", "heartbeat"])
        for (key, path) in [
            ("ack_delivery", \CallbackOptions.ackDelivery), ("report_error", \.reportError), ("heartbeat", \.heartbeat),
        ] where section.has(key) {
            let callback = section.section(key)
            guard !callback.isMisplaced else { continue }
            options.callbacks[keyPath: path] = readFetch(callback, postsAlways: true)
            if key == "heartbeat" {
                callback.duration(
                    "interval",
                    &options.callbacks.heartbeatInterval,
                    atLeast: .seconds(60),
                    atMost: .days(7)
                )
            }
        }
    }

    /// A request. Callbacks always post, and what they post is theirs.
    private func readFetch(_ section: SettingsSection, postsAlways: Bool) -> FetchOptions {
        var fetch = FetchOptions(url: "")
        guard !section.isMisplaced else { return fetch }
        var known = ["url", "headers", "token_file", "timeout"]
        if !postsAlways { known += ["method", "body"] }
        if section.path.hasSuffix(".heartbeat") { known.append("interval") }
        section.allow(known)
        if section.has("url") {
            section.text("url", &fetch.url) { ValueRules.url($0, allowsQuery: true) }
        } else {
            section.report("needs a url; add it.")
        }
        if postsAlways {
            fetch.method = .post
        } else {
            section.choice("method", &fetch.method)
            section.optionalText("body", &fetch.body, check: ValueRules.json)
            if fetch.body != nil, fetch.method == .get {
                section.report("goes with method POST only; set it or remove body.", at: "body")
            }
        }
        let headers = section.section("headers")
        for entry in headers.entries {
            var value = ""
            headers.text(entry.key, &value) { ValueRules.header(entry.key, $0) }
            fetch.headers[entry.key] = value
        }
        secretFile(section, "token_file", &fetch.tokenFile)
        section.optionalDuration(
            "timeout",
            &fetch.timeout,
            atLeast: .seconds(1),
            atMost: postsAlways ? .seconds(8) : .seconds(12)
        )
        return fetch
    }
}

extension ValueRules {
    /// The text of a request's body.
    static func json(_ text: String) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
            ? nil : "must be JSON."
    }

    /// A header that may be sent along, and is no credential.
    static func header(_ name: String, _ value: String) -> String? {
        let isToken =
            !name.isEmpty && name.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
        guard isToken else { return "must have the name of a header, such as X-Client." }
        if ["authorization", "proxy-authorization", "cookie", "x-api-key"].contains(name.lowercased()) {
            return "holds a credential; put it in a file and name that as token_file."
        }
        let own: Set = [
            "user-agent", "content-type", "accept", "if-none-match", "content-length", "host", "transfer-encoding",
        ]
        if own.contains(name.lowercased()) { return "is set by the agent; remove it." }
        return value.utf8.allSatisfy { (32...126).contains($0) } ? nil : "must be printable ASCII."
    }
}
