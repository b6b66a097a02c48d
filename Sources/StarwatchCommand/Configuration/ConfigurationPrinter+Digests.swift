import Starwatch
import StarwatchCore

extension ConfigurationPrinter {
    mutating func writeDigests(_ digests: [DigestOptions]) {
        begin("digests", isEmpty: digests.isEmpty)
        for digest in digests {
            open("digests.\(digest.name)", "  \(digest.name):", indent: "    ")
            value("times", list: digest.times.map(\.description))
            value("timezone", digest.timezone)
            value("window", digest.window)
            value("lead", digest.lead)
            if let ttl = digest.ttl { value("ttl", ttl) } else { value("ttl", nil) }
            value("title", digest.title)
            value("body", digest.body)
            value("fallback_title", digest.fallbackTitle)
            value("fallback_body", digest.fallbackBody)
            value("mode", digest.mode.rawValue)
            value("on_missing", digest.onMissing.rawValue)
            value("on_empty", digest.onEmpty.rawValue)
            if let sinks = digest.sinks { value("sinks", list: sinks) } else { value("sinks", nil) }
            // A file has no other than these two: fetchers are of programs that link the library.
            if let poll = digest.content.pollName { value("poll", poll.rawValue) }
            guard let fetch = digest.content.fetch else { continue }
            open("digests.\(digest.name).fetch", "    fetch:", indent: "      ")
            value("method", fetch.method.rawValue)
            writeRequest(fetch, section: "digests.\(digest.name).fetch", indent: "      ")
            value("body", fetch.body.map { _ in "<secret>" })
        }
    }

    mutating func writeCallbacks(_ callbacks: CallbackOptions) {
        let all = [
            ("ack_delivery", callbacks.ackDelivery), ("report_error", callbacks.reportError),
            ("heartbeat", callbacks.heartbeat),
        ]
        begin("callbacks", isEmpty: false)
        for (key, fetch) in all {
            guard let fetch else {
                value(key, nil)
                continue
            }
            open("callbacks.\(key)", "  \(key):", indent: "    ")
            writeRequest(fetch, section: "callbacks.\(key)", indent: "    ")
            if key == "heartbeat" { value("interval", callbacks.heartbeatInterval) }
            open("callbacks", nil, indent: "  ")
        }
    }

    /// A header's value may be a credential that its name does not give away, as may the path of a URL.
    private mutating func writeRequest(_ fetch: FetchOptions, section: String, indent: String) {
        value("url", Self.redacted(url: fetch.url))
        value("token_file", fetch.tokenFile)
        if let timeout = fetch.timeout { value("timeout", timeout) } else { value("timeout", nil) }
        guard !fetch.headers.isEmpty else { return value("headers", raw: "{}") }
        open("\(section).headers", "\(indent)headers:", indent: indent + "  ")
        for name in fetch.headers.keys.sorted() { value(name, "<secret>") }
        open(section, nil, indent: indent)
    }
}
