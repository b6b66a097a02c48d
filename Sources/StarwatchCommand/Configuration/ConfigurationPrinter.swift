import Foundation
import Starwatch
import StarwatchCore

/// The effective configuration as YAML, each value with its origin: `# file:12` or `# default`.
///
/// What identifies or authenticates a person is not printed: the DID is `<did>`, a starred plan `<plan>`; topics,
/// arguments of commands, and what follows the host of a webhook's URL can hold secrets, and are `<secret>`.
struct ConfigurationPrinter {
    private let configuration: LoadedConfiguration
    private var lines: [(text: String, origin: String?)] = []
    private var section = ""
    private var indent = "  "

    static func yaml(_ configuration: LoadedConfiguration) -> String {
        var printer = ConfigurationPrinter(configuration: configuration)
        printer.write()
        let width = min(60, printer.lines.map(\.text.count).max() ?? 0)
        return printer.lines.map { line in
            guard let origin = line.origin else { return line.text + "\n" }
            let padding = String(repeating: " ", count: max(0, width - line.text.count))
            return "\(line.text)\(padding)  # \(origin)\n"
        }.joined()
    }

    private init(configuration: LoadedConfiguration) {
        self.configuration = configuration
    }

    // MARK: Lines

    mutating func begin(_ name: String, isEmpty: Bool = false) {
        section = name
        indent = "  "
        lines.append(isEmpty ? ("\(name): {}", "default") : ("\(name):", nil))
    }

    /// Goes into a part of the section, or back to it when there is no line.
    mutating func open(_ path: String, _ line: String?, indent: String) {
        section = path
        self.indent = indent
        if let line { lines.append((line, nil)) }
    }

    mutating func value(_ key: String, raw: String) {
        let line = configuration.origins["\(section).\(key)"]
        lines.append(("\(indent)\(key): \(raw)", line.map { "file:\($0)" } ?? "default"))
    }

    mutating func value(_ key: String, _ text: String?) { value(key, raw: text.map(Self.scalar) ?? "null") }

    mutating func value(_ key: String, _ duration: Duration) { value(key, raw: DurationText.format(duration)) }

    private mutating func value(_ key: String, _ number: Int) { value(key, raw: "\(number)") }

    mutating func value(_ key: String, list: [String]) {
        value(key, raw: "[\(list.map(Self.scalar).joined(separator: ", "))]")
    }

    /// Plain where that cannot be read as anything else, else in double quotes.
    static func scalar(_ text: String) -> String {
        let plain = text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "._/:+<>-".unicodeScalars.contains(scalar))
        }
        let words = ["true", "false", "yes", "no", "on", "off", "null", ""]
        let isOther = Double(text) != nil || words.contains(text.lowercased())
        let start = text.first.map { $0.isLetter || $0.isNumber || "./<".contains($0) } ?? false
        if plain, start, !isOther, !text.hasSuffix(":") { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 32 || scalar.value == 127:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\x" + (hex.count < 2 ? "0" : "") + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    // MARK: Sections

    private mutating func write() {
        let options = configuration.options
        lines.append(("# The effective configuration: \(configuration.file) over the defaults.", nil))
        begin("server")
        value("url", options.server.url)
        value("dialect", options.server.dialect.rawValue)
        value("timeout", options.server.timeout)
        value("max_response", raw: ByteSizeText.format(options.server.maxResponseBytes))
        value("ca_file", options.server.caFile)
        value("pinned_public_key", options.server.pinnedPublicKey)
        begin("identity")
        value("did", options.initialIdentity.map { _ in "<did>" })
        begin("auth")
        value("kind", options.auth.kind.rawValue)
        value("secret_file", options.auth.secretFile)
        value("key_file", options.auth.keyFile)
        value("tokens_file", options.auth.tokensFile)
        if let argv = options.auth.argv { value("argv", list: Self.redacted(argv)) } else { value("argv", nil) }
        if let lifetime = options.auth.lifetime { value("lifetime", lifetime) } else { value("lifetime", nil) }
        value("refresh_before", options.auth.refreshBefore)
        begin("storage")
        value("path", options.storage.path)
        value("owner", options.storage.owner.rawValue)
        writePolls(options.polls)
        begin("outbox")
        value("max_undelivered", options.outbox.maxUndelivered)
        value("backpressure_threshold", raw: "\(options.outbox.backpressureThreshold)")
        value("eviction", options.outbox.eviction.rawValue)
        value("max_retries", options.outbox.maxRetries)
        value("cleanup_interval", options.outbox.cleanupInterval)
        value("keep_delivered", options.outbox.keepDelivered)
        writeDelivery(options.delivery)
        begin("acknowledge")
        value("mode", options.acknowledge.mode.rawValue)
        value("batch_size", options.acknowledge.batchSize)
        begin("limits")
        value("requests_per_minute", options.limits.requestsPerMinute)
        value("acknowledgements_per_minute", options.limits.acknowledgementsPerMinute)
        value("max_concurrent_polls", options.limits.maxConcurrentPolls)
        value("cycle", options.limits.cycle)
        value("shutdown", options.limits.shutdown)
        begin("clock")
        value("source", options.clock.source.rawValue)
        value("ntp_server", options.clock.ntpServer)
        value("check_interval", options.clock.checkInterval)
        value("max_skew", options.clock.maxSkew)
        begin("http")
        value("listen", options.http.listen)
        value("web_config_file", options.http.webConfigFile)
        value("dashboards_url", options.http.dashboardsURL)
        begin("control")
        value("socket", options.control.socket)
        value("listen", options.control.listen)
        value("token_file", options.control.tokenFile)
        begin("log")
        value("level", options.log.level.rawValue)
        value("format", options.log.format.rawValue)
        writeDigests(options.digests)
        writeCallbacks(options.callbacks)
    }

    private mutating func writePolls(_ polls: [PollOptions]) {
        begin("polls")
        for poll in polls {
            lines.append(("  \(poll.name):", nil))
            section = "polls.\(poll.name)"
            indent = "    "
            value("kind", poll.kind.rawValue)
            switch poll.timing {
            case .cron(let schedule, let timezone):
                value("schedule", schedule)
                value("timezone", timezone)
            case .every(let interval):
                value("every", interval)
            }
            value("catch_up", poll.catchUp.rawValue)
            value("splay", poll.splay)
            value("stale_after", poll.staleAfter)
            value("plan_ids", list: poll.planIDs.map { _ in "<plan>" })
            value("bootstrap", poll.bootstrap.rawValue)
            value("validation", poll.validation.rawValue)
            value("quarantine_invalid", raw: "\(poll.quarantineInvalid)")
            if let interval = poll.groupInterval {
                value("group_interval", interval)
            } else {
                value("group_interval", nil)
            }
            value("max_group_size", raw: poll.maxGroupSize.map { "\($0)" } ?? "null")
            value("priority", poll.priority)
        }
    }

    private mutating func writeDelivery(_ delivery: DeliveryOptions) {
        begin("delivery")
        value("group_wait", delivery.groupWait)
        value("group_interval", delivery.groupInterval)
        value("max_group_size", delivery.maxGroupSize)
        value("locale", delivery.locale)
        value("catalogues", delivery.catalogueFolder)
        value("project_names", raw: delivery.projectNames.isEmpty ? "{}" : "{<plan>: <name>}")
        value("staleness_notice", raw: "\(delivery.stalenessNotice)")
        lines.append(("  sinks:", nil))
        for (index, sink) in delivery.sinks.enumerated() {
            section = "delivery.sinks[\(index)]"
            indent = "    - "
            value("name", sink.name)
            indent = "      "
            writeKind(sink.kind)
        }
    }

    private mutating func writeKind(_ kind: SinkOptions.Kind) {
        switch kind {
        case .stdout: value("kind", "stdout")
        case .log: value("kind", "log")
        case .feed(let keep):
            value("kind", "feed")
            value("keep", keep)
        case .file(let path):
            value("kind", "file")
            value("path", path)
        case .webhook(let url, let secretFile, let timeout):
            value("kind", "webhook")
            value("url", Self.redacted(url: url))
            value("secret_file", secretFile)
            value("timeout", timeout)
        case .ntfy(let url, _, let tokenFile):
            value("kind", "ntfy")
            value("url", url)
            value("topic", "<secret>")
            value("token_file", tokenFile)
        case .command(let argv, let timeout):
            value("kind", "command")
            value("argv", list: Self.redacted(argv))
            value("timeout", timeout)
        }
    }

    // MARK: Secrets

    private static func redacted(_ argv: [String]) -> [String] {
        argv.enumerated().map { $0.offset == 0 ? $0.element : "<secret>" }
    }

    static func redacted(url: String) -> String {
        guard var parts = URLComponents(string: url), parts.query != nil || parts.path.count > 1 else { return url }
        parts.query = nil
        parts.path = ""
        return (parts.string ?? "") + "/<secret>"
    }
}
