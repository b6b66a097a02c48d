import Starwatch
import StarwatchCore
import Yams

extension ConfigurationReader {
    static let maximumSinks = 16
    /// How long a webhook or a command may take when the file does not say.
    static let defaultSinkTimeout = Duration.seconds(10)

    /// How many notifications a feed keeps when the file does not say.
    static let defaultFeedLength = 100

    /// Where notifications go when the file names no sinks.
    static let defaultSink = SinkOptions(name: "log", kind: .log)

    private enum SinkKind: String, CaseIterable {
        case stdout, log, feed, file, webhook, ntfy, command

        var settings: [String] {
            switch self {
            case .stdout, .log: []
            case .feed: ["keep"]
            case .file: ["path"]
            case .webhook: ["url", "secret_file", "timeout"]
            case .ntfy: ["url", "topic", "token_file"]
            case .command: ["argv", "timeout"]
            }
        }

        var needed: [String] {
            switch self {
            case .stdout, .log, .feed: []
            case .file: ["path"]
            case .webhook: ["url"]
            case .ntfy: ["url", "topic"]
            case .command: ["argv"]
            }
        }
    }

    mutating func readDelivery(_ section: SettingsSection) {
        section.allow([
            "group_wait", "group_interval", "max_group_size", "locale", "catalogues", "project_names",
            "staleness_notice", "sinks",
        ])
        section.duration("group_wait", &options.delivery.groupWait, atMost: .days(1))
        section.duration("group_interval", &options.delivery.groupInterval, atMost: .days(7))
        section.integer("max_group_size", &options.delivery.maxGroupSize, in: 1...100)
        section.text("locale", &options.delivery.locale, check: ValueRules.locale)
        readCatalogues(section)
        readProjectNames(section)
        section.flag("staleness_notice", &options.delivery.stalenessNotice)
        readSinks(section)
    }

    private mutating func readSinks(_ section: SettingsSection) {
        guard let entry = section.entry("sinks"), !entry.value.isNull else {
            options.delivery.sinks = [Self.defaultSink]
            return
        }
        guard let nodes = entry.value.sequence else {
            section.report("must be a list of sinks, each with a name and a kind.", at: "sinks")
            return
        }
        if nodes.isEmpty { section.report("must name at least one sink.", at: "sinks") }
        if nodes.count > Self.maximumSinks {
            section.report("must name at most \(Self.maximumSinks) sinks; here are \(nodes.count).", at: "sinks")
        }
        for (index, node) in nodes.enumerated() {
            let line = node.mark?.line ?? entry.line
            let path = section.path(of: "sinks[\(index)]")
            readSink(SettingsSection(node, path: path, line: line, journal: journal))
        }
    }

    private mutating func readSink(_ section: SettingsSection) {
        guard !section.isMisplaced else { return }
        guard !section.entries.isEmpty else { return section.report("must have a name and a kind.") }
        var name = ""
        section.text("name", &name, check: ValueRules.name)
        if section.entry("name") == nil { section.report("needs a name.") }
        if !name.isEmpty, options.delivery.sinks.contains(where: { $0.name == name }) {
            section.report("there is another sink of this name; choose a different one.", at: "name")
        }
        var kind = SinkKind.log
        let problems = journal.problems.count
        section.choice("kind", &kind)
        guard section.entry("kind") != nil else {
            let kinds = SinkKind.allCases.map(\.rawValue).joined(separator: ", ")
            return section.report("needs a kind: one of \(kinds).")
        }
        guard journal.problems.count == problems else { return }
        section.allow(["name", "kind"] + kind.settings)
        for key in kind.needed where !section.has(key) {
            let place = section.entry(key) == nil ? nil : key
            section.report("a sink of kind \(kind.rawValue) needs \(key); add it.", at: place)
        }
        if kind == .feed, options.delivery.sinks.contains(where: { if case .feed = $0.kind { true } else { false } }) {
            section.report("there is another sink of kind feed, and all feeds are one; remove one of them.", at: "kind")
        }
        options.delivery.sinks.append(SinkOptions(name: name, kind: settings(of: kind, section)))
    }

    private func settings(of kind: SinkKind, _ section: SettingsSection) -> SinkOptions.Kind {
        var url = ""
        var timeout = Self.defaultSinkTimeout
        switch kind {
        case .stdout: return .stdout
        case .log: return .log
        case .feed:
            var keep = Self.defaultFeedLength
            section.integer("keep", &keep, in: 1...10_000)
            return .feed(keep: keep)
        case .file:
            var path = ""
            if section.has("path") { section.text("path", &path) }
            return .file(path: files.path(path))
        case .webhook:
            var secret: String?
            if section.has("url") { section.text("url", &url) { ValueRules.url($0, allowsQuery: true) } }
            secretFile(section, "secret_file", &secret)
            section.duration("timeout", &timeout, atLeast: .milliseconds(100), atMost: .seconds(600))
            return .webhook(url: url, secretFile: secret, timeout: timeout)
        case .ntfy:
            var (topic, token): (String, String?) = ("", nil)
            if section.has("url") { section.text("url", &url) { ValueRules.url($0) } }
            if section.has("topic") { section.text("topic", &topic, check: ValueRules.topic) }
            secretFile(section, "token_file", &token)
            return .ntfy(url: url, topic: topic, tokenFile: token)
        case .command:
            let argv = section.list("argv") ?? []
            if argv.isEmpty, section.isList("argv") { section.report("must name a program.", at: "argv") }
            section.duration("timeout", &timeout, atLeast: .milliseconds(100), atMost: .seconds(600))
            return .command(argv: argv, timeout: timeout)
        }
    }
}
