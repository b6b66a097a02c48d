import Starwatch
import StarwatchCore
import Yams

/// The sections of the file, one function each, in the order of the file.
struct ConfigurationReader {
    let files: FileResolver
    let journal: ConfigurationJournal
    var options = AgentOptions()

    init(files: FileResolver, journal: ConfigurationJournal) {
        self.files = files
        self.journal = journal
    }

    /// Every setting that `root` gives, over the defaults. What was wrong is in ``journal``.
    mutating func read(_ root: Node?) -> AgentOptions {
        if let root, root.mapping == nil, !root.isNull {
            journal.report("must hold settings as \"section:\" with \"key: value\" lines below.", at: "", line: 1)
            return options
        }
        let settings = SettingsSection(root.flatMap { $0.isNull ? nil : $0 }, path: "", line: nil, journal: journal)
        settings.allow([
            "server", "identity", "auth", "storage", "polls", "outbox", "delivery", "acknowledge", "limits", "clock",
            "http", "control", "log", "digests", "callbacks",
        ])
        readServer(settings.section("server"))
        readIdentity(settings.section("identity"))
        readAuth(settings.section("auth"))
        readStorage(settings.section("storage"))
        readPolls(settings.section("polls"))
        readOutbox(settings.section("outbox"))
        readDelivery(settings.section("delivery"))
        readAcknowledge(settings.section("acknowledge"))
        readLimits(settings.section("limits"))
        readClock(settings.section("clock"))
        readHTTP(settings.section("http"))
        readControl(settings.section("control"))
        readLog(settings.section("log"))
        // After what they name: polls and sinks.
        readDigests(settings.section("digests"))
        readCallbacks(settings.section("callbacks"))
        return options
    }

    // MARK: Files

    /// A file that others may read.
    func file(_ section: SettingsSection, _ key: String, _ target: inout String?) {
        section.optionalText(key, &target, check: files.fileProblem)
        target = target.map(files.path)
    }

    /// A file that nobody else may read.
    func secretFile(_ section: SettingsSection, _ key: String, _ target: inout String?) {
        section.optionalText(key, &target, check: files.secretProblem)
        target = target.map(files.secretPath)
    }

    // MARK: The way to the server

    private mutating func readServer(_ section: SettingsSection) {
        section.allow(["url", "dialect", "timeout", "max_response", "ca_file", "pinned_public_key"])
        section.text("url", &options.server.url) { ValueRules.url($0) }
        section.choice("dialect", &options.server.dialect)
        section.duration("timeout", &options.server.timeout, atLeast: .milliseconds(100), atMost: .seconds(3600))
        section.size("max_response", &options.server.maxResponseBytes, in: 1024...1 << 30)
        file(section, "ca_file", &options.server.caFile)
        section.optionalText("pinned_public_key", &options.server.pinnedPublicKey, check: ValueRules.pinnedPublicKey)
    }

    private mutating func readIdentity(_ section: SettingsSection) {
        section.allow(["did"])
        var text: String?
        section.optionalText("did", &text, check: ValueRules.did)
        options.initialIdentity = text.flatMap(DID.init)
    }

    private mutating func readAuth(_ section: SettingsSection) {
        section.allow([
            "kind", "secret_file", "key_file", "tokens_file", "argv", "lifetime", "refresh_before",
        ])
        section.choice("kind", &options.auth.kind)
        secretFile(section, "secret_file", &options.auth.secretFile)
        secretFile(section, "key_file", &options.auth.keyFile)
        secretFile(section, "tokens_file", &options.auth.tokensFile)
        if let argv = section.list("argv"), !argv.isEmpty { options.auth.argv = argv }
        section.optionalDuration("lifetime", &options.auth.lifetime, atLeast: .seconds(1))
        section.duration("refresh_before", &options.auth.refreshBefore)
        let needed: String? =
            switch options.auth.kind {
            case .none: nil
            case .sharedSecret: "secret_file"
            case .didKey: "key_file"
            case .tokenPool: "tokens_file"
            case .command: "argv"
            }
        if let needed, !section.has(needed) {
            section.report("\(options.auth.kind.rawValue) needs \(needed); add it.", at: "kind")
        }
    }

    private mutating func readStorage(_ section: SettingsSection) {
        section.allow(["path", "owner"])
        section.text("path", &options.storage.path)
        options.storage.path = files.path(options.storage.path)
        section.choice("owner", &options.storage.owner)
    }

    // MARK: Work

    private mutating func readOutbox(_ section: SettingsSection) {
        section.allow([
            "max_undelivered", "backpressure_threshold", "eviction", "max_retries", "cleanup_interval",
            "keep_delivered",
        ])
        section.integer("max_undelivered", &options.outbox.maxUndelivered, in: 1...1_000_000)
        section.fraction("backpressure_threshold", &options.outbox.backpressureThreshold)
        section.choice("eviction", &options.outbox.eviction)
        section.integer("max_retries", &options.outbox.maxRetries, in: 1...100)
        section.duration("cleanup_interval", &options.outbox.cleanupInterval, atLeast: .seconds(1))
        section.duration("keep_delivered", &options.outbox.keepDelivered)
    }

    private mutating func readAcknowledge(_ section: SettingsSection) {
        section.allow(["mode", "batch_size"])
        section.choice("mode", &options.acknowledge.mode)
        section.integer("batch_size", &options.acknowledge.batchSize, in: 1...100)
    }

    private mutating func readLimits(_ section: SettingsSection) {
        section.allow([
            "requests_per_minute", "acknowledgements_per_minute", "max_concurrent_polls", "cycle", "shutdown",
        ])
        section.integer("requests_per_minute", &options.limits.requestsPerMinute, in: 1...100_000)
        section.integer("acknowledgements_per_minute", &options.limits.acknowledgementsPerMinute, in: 1...1_000_000)
        section.integer("max_concurrent_polls", &options.limits.maxConcurrentPolls, in: 1...16)
        section.duration("cycle", &options.limits.cycle, atLeast: .seconds(1))
        section.duration("shutdown", &options.limits.shutdown, atLeast: .seconds(1))
    }

    private mutating func readClock(_ section: SettingsSection) {
        section.allow(["source", "ntp_server", "check_interval", "max_skew"])
        section.choice("source", &options.clock.source)
        section.optionalText("ntp_server", &options.clock.ntpServer, check: ValueRules.ntpServer)
        if options.clock.source == .ntp, !section.has("ntp_server") {
            section.report("ntp needs ntp_server; add it.", at: "source")
        }
        let isNTP = options.clock.source == .ntp
        section.duration("check_interval", &options.clock.checkInterval, atLeast: .seconds(isNTP ? 15 : 1))
        section.duration("max_skew", &options.clock.maxSkew, atLeast: .milliseconds(1))
    }

    // MARK: The outside

    private mutating func readHTTP(_ section: SettingsSection) {
        section.allow(["listen", "web_config_file", "dashboards_url"])
        section.text("listen", &options.http.listen, check: ValueRules.listen)
        section.optionalText("dashboards_url", &options.http.dashboardsURL, check: ValueRules.link)
        file(section, "web_config_file", &options.http.webConfigFile)
        if options.http.webConfigFile != nil {
            section.report(
                "cannot be used in this version; put a proxy with TLS in front of http.listen.",
                at: "web_config_file"
            )
        }
    }

    private mutating func readControl(_ section: SettingsSection) {
        section.allow(["socket", "listen", "token_file"])
        section.text("socket", &options.control.socket) { ValueRules.socketPath(files.path($0)) }
        options.control.socket = files.path(options.control.socket)
        if !section.has("socket"), let problem = ValueRules.socketPath(options.control.socket) {
            section.report(problem, at: "socket")
        }
        section.optionalText("listen", &options.control.listen, check: ValueRules.listen)
        secretFile(section, "token_file", &options.control.tokenFile)
        if section.has("listen"), !section.has("token_file") {
            section.report(
                "opens the control API on TCP, which needs a token_file; add it or remove listen.",
                at: "listen"
            )
        }
    }

    private mutating func readLog(_ section: SettingsSection) {
        section.allow(["level", "format"])
        section.choice("level", &options.log.level)
        section.choice("format", &options.log.format)
    }
}
