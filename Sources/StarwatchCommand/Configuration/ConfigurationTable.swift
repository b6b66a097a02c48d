import Starwatch
import StarwatchCore
import StarwatchHTTP

/// The table of every setting of the configuration file, in the order of the file.
///
/// An entry names the key, the key path into the options, the ``Rule`` that parses, checks and prints the value, and the
/// comment of `config default`. The default is the value of fresh options, so it is written once. Everything else walks
/// the table: reading, `config print`, `config default` and "did you mean". Adding a setting means adding one entry.
///
/// Checks between several settings belong to the section. Polls, delivery and digests have a file each.
enum ConfigurationTable {
    /// The largest number of polls, of sinks and of digests.
    static let maximumParts = 16

    @SettingsBuilder<AgentOptions> static var settings: [Entry<AgentOptions>] {
        server
        Entry("identity", \.self) {
            Entry("did", \.initialIdentity, as: did, "only seeds an empty database; later: starwatch identity set")
        }
        Entry("accounts", \.accounts, as: .choice(), "one: identity.did; many: those of starwatch accounts add")
        Entry("fleet", \.fleet) {
            Entry(
                "requests_per_second",
                \.requestsPerSecond,
                as: .integer(1...10_000),
                "requests to the server, with accounts: many"
            )
            Entry("shared_requests", \.sharedRequests, as: .flag, "one request for many accounts, without tokens")
        }
        auth
        Entry("storage", \.storage) {
            Entry("path", \.path, as: .newFile, "the SQLite file")
            Entry("owner", \.owner, as: .choice(), "host: the agent never migrates, it only checks the version")
            let copies = \StorageOptions.keepBeforeUpgrade
            Entry("keep_before_upgrade", copies, as: .duration(.zero, .days(30)), "copy before an upgrade; 0s: none")
        }
        security
        polls
        Entry("outbox", \.outbox) {
            Entry("max_undelivered", \.maxUndelivered, as: .integer(1...1_000_000), "rows that wait for delivery")
            Entry("backpressure_threshold", \.backpressureThreshold, as: .fraction, "fraction at which polling pauses")
            Entry("eviction", \.eviction, as: .choice(), "evicted first: oldest, newest or lowest priority")
            Entry("max_retries", \.maxRetries, as: .integer(1...100), "rejections by one sink before a dead letter")
            Entry("cleanup_interval", \.cleanupInterval, as: .duration(.seconds(1)), "how often old rows are deleted")
            Entry("keep_delivered", \.keepDelivered, as: .duration(), "retention of finished rows; dead letters: 30d")
        }
        delivery
        Entry("acknowledge", \.acknowledge) {
            Entry("mode", \.mode, as: .choice(), "where delivered changes are acknowledged")
            Entry("batch_size", \.batchSize, as: .integer(1...100), "changes per request")
        }
        Entry("limits", \.limits) {
            let changes = \LimitOptions.acknowledgementsPerMinute
            Entry("requests_per_minute", \.requestsPerMinute, as: .integer(1...100_000), "in any 60s, per identity")
            Entry("acknowledgements_per_minute", changes, as: .integer(1...1_000_000), "changes in any 60s")
            Entry("max_concurrent_polls", \.maxConcurrentPolls, as: .integer(1...1000), "poll cycles at once")
            Entry("max_own_plans", \.maxOwnPlans, as: .integer(1...5000), "the account's projects in a cycle, newest")
            Entry("cycle", \.cycle, as: .duration(.seconds(1)), "time to request pages; the next poll cycle resumes")
            Entry("shutdown", \.shutdown, as: .duration(.seconds(1)), "grace period; the next start resumes the rest")
        }
        clock
        Entry("http", \.http) {
            Entry("listen", \.listen, as: .text(ValueRules.listen), "/metrics, health checks, status page")
            Entry(
                "web_config_file",
                \.webConfigFile,
                as: .webConfiguration(.http),
                "TLS and passwords, as in Prometheus exporters"
            )
            Entry("allowed_hosts", \.allowedHosts, as: hostNames, "names in Host besides addresses and localhost")
            Entry("dashboards_url", \.dashboardsURL, as: .text(ValueRules.link), "linked on the status page")
        }
        control
        Entry("log", \.log) {
            Entry("level", \.level, as: .choice(aliases: ["warn": "warning"]))
            Entry("format", \.format, as: .choice())
        }
        // After polls and sinks, because digests name them.
        digests
        callbacks
        canary
    }

    private static var canary: Entry<AgentOptions> {
        Entry(optional: "canary", \.canary, CanaryOptions(), "a synthetic change that proves delivery") {
            Entry("every", \.every, as: .duration(.seconds(60), .days(1)), "to the sinks with canary: true")
            Entry("account", \.account, as: did, "the account that gets it, with accounts: many")
        } check: { _, options, section in
            if options.accounts == .one, options.canary?.account != nil {
                section.report("is for accounts: many; remove it.", at: "account")
            }
            if !options.delivery.sinks.contains(where: { $0["canary"] == true }) {
                section.report("needs a sink with canary: true, of kind webhook, file or command; add it.", at: "every")
            }
        }
    }

    private static var hostNames: Rule<[String]> {
        .list.checked { names, _ in names.lazy.compactMap(ValueRules.hostName).first }
    }

    private static var did: Rule<DID> {
        Rule<String>.text { text in
            DID(text) == nil ? "must be a DID such as did:ethr:0x…, or null." : DID.typingProblem(text)
        }
        .map(to: \.rawValue) { text, _ in DID(text) }
        .shown { _ in "<did>" }
    }

    private static var server: Entry<AgentOptions> {
        Entry("server", \.server) {
            Entry("url", \.url, as: .url, "https; http only to this machine")
            Entry("dialect", \.dialect, as: .choice())
            Entry("timeout", \.timeout, as: .duration(.milliseconds(100), .hours(1)), "per request, with the body")
            Entry("retry_attempts", \.retryAttempts, as: .integer(1...10), "null: 3, or 5 at 429 and 503")
            Entry("max_response", \.maxResponseBytes, as: .size(1024...1 << 30), "after decompression")
            let name = "null: Starwatch/VERSION"
            Entry("user_agent", \.userAgent, as: .text(ValueRules.headerValue), name)
            Entry("client_version", \.clientVersion, as: .text(ValueRules.headerValue), "X-Client-Version; " + name)
            Entry(
                "proxy",
                \.proxy,
                as: .text(ValueRules.proxy),
                "http://HOST:PORT; environment: HTTPS_PROXY; null: none"
            )
            Entry("proxy_login_file", \.proxyLoginFile, as: .secretFile(.login), "user:password at the proxy")
            Entry("ca_file", \.caFile, as: .file(), "additional trust anchors of this server, PEM")
            Entry("pinned_public_key", \.pinnedPublicKey, as: .text(ValueRules.pinnedPublicKey), "sha256//...")
        } check: { _, _, section in
            checkProxyLogin(section)
        }
    }

    /// Reports a login without a proxy.
    static func checkProxyLogin(_ section: SettingsField) {
        guard section.has("proxy_login_file"), !section.has("proxy") else { return }
        section.report(
            "is the login at proxy, which is missing; add that, or remove this setting.",
            at: "proxy_login_file"
        )
    }

    private static var auth: Entry<AgentOptions> {
        Entry("auth", \.auth) {
            Entry("kind", \.kind, as: .choice())
            Entry(
                "secret_file",
                \.secretFile,
                as: .secretFile(.bytes, atLeast: 32),
                "shared_secret: the secret's bytes (HS256), at least 32"
            )
            Entry("key_file", \.keyFile, as: .secretFile(.text), "did_key: 64 hex digits or PEM (ES256K, did:ethr)")
            Entry("stored_keys", \.storedKeys, as: .flag, "the key is in the encrypted database; starwatch keys import")
            let tokens = Rule.secretFile(.text)
            Entry("tokens_file", \.tokensFile, as: tokens, "token_pool: one token per line, or a JSON array")
            Entry("argv", \.argv, as: .command, "command: [program, argument, ...]; prints a token")
            Entry("lifetime", \.lifetime, as: .duration(.seconds(1)), "token lifetime; null: 60s for did_key, else 60m")
            Entry("refresh_before", \.refreshBefore, as: .duration(), "time before expiry; at most half the lifetime")
            Entry("scope", \.scope, as: .text(ValueRules.scope), "of minted tokens, if the server asks for another")
        } check: { auth, options, section in
            let hasFile = section.has("secret_file") || section.has("key_file")
            if auth.storedKeys || options.tokens.storedKeys && !hasFile { return checkStoredKeys(auth, section) }
            let needed: String? =
                switch auth.kind {
                case .none: nil
                case .sharedSecret: "secret_file"
                case .didKey: "key_file"
                case .tokenPool: "tokens_file"
                case .command: "argv"
                }
            let files = ["key_file": "did_key", "secret_file": "shared_secret", "tokens_file": "token_pool"]
            for (key, kind) in files.sorted(by: { $0.key < $1.key }) where key != needed && section.has(key) {
                section.report(
                    "is not used with kind \(auth.kind.rawValue); change kind to \(kind), or remove it.",
                    at: key
                )
            }
            guard let needed, !section.has(needed) else { return }
            section.report("\(auth.kind.rawValue) needs \(needed); add it.", at: "kind")
        }
    }

    private static func checkStoredKeys(_ auth: AuthOptions, _ section: SettingsField) {
        guard auth.signingAlgorithm != nil else {
            return section.report("needs kind shared_secret or did_key; change kind, or remove it.", at: "stored_keys")
        }
        for file in ["secret_file", "key_file", "tokens_file"] where section.has(file) {
            section.report("is given beside stored_keys; remove one of the two.", at: file)
        }
    }

    private static var security: Entry<AgentOptions> {
        Entry("security", \.security) {
            Entry(
                "master_key_file",
                \.masterKeyFile,
                as: .secretFile(.text, canBeSealed: true),
                "encrypts the database; see starwatch keys init"
            )
            Entry("master_key_command", \.masterKeyCommand, as: .command, "[program, argument, ...]; prints the key")
        } check: { security, options, section in
            if options.auth.storedKeys, !section.has("master_key_file"), !section.has("master_key_command") {
                let (journal, path) = (section.journal, "auth.stored_keys")
                let message = "needs a master key; make one with starwatch keys init, and set security.master_key_file."
                journal.report(message, at: path, line: journal.origins[path])
            }
            if section.has("master_key_file"), section.has("master_key_command") {
                section.report("is given beside master_key_file; remove one of the two.", at: "master_key_command")
            }
        }
    }

    private static var clock: Entry<AgentOptions> {
        Entry("clock", \.clock) {
            Entry("source", \.source, as: .choice())
            Entry("ntp_servers", \.ntpServers, as: timeServers, "source ntp: HOST or HOST:PORT, asked in turn")
            Entry("ntp_server", \.ntpServer, as: .text(ValueRules.ntpServer), "a single one; replaces ntp_servers")
            Entry("check_interval", \.checkInterval, as: .duration(.seconds(1)), "clock check period; ntp: 15s or more")
            Entry("max_skew", \.maxSkew, as: .duration(.milliseconds(1)), "above it, the agent is degraded")
        } check: { clock, _, section in
            guard clock.source == .ntp else { return }
            if clock.checkInterval < .seconds(15) {
                section.report("must be at least 15s with source ntp.", at: "check_interval")
            }
        }
    }

    private static var timeServers: Rule<[String]> {
        .list.checked(limits: "1 to \(ClockOptions.maximumServers)") { names, _ in
            if names.isEmpty { return "must name at least one server, such as [pool.ntp.org]." }
            if names.count > ClockOptions.maximumServers {
                return "has \(names.count) servers; name at most \(ClockOptions.maximumServers)."
            }
            return names.lazy.compactMap(ValueRules.ntpServer).first
        }
    }

    private static var control: Entry<AgentOptions> {
        Entry("control", \.control) {
            Entry("socket", \.socket, as: .newFile, "created with mode 0600")
            Entry("listen", \.listen, as: .text(ValueRules.listen), "control API on TCP; needs token_file or users")
            let token = Rule.secretFile(.line, atLeast: AgentServers.shortestControlToken)
            Entry("token_file", \.tokenFile, as: token, "bearer token of requests over TCP, 16 bytes or more")
            Entry(
                "feed_token_file",
                \.feedTokenFile,
                as: .secretFile(.line, atLeast: AgentServers.shortestControlToken, maker: FileResolver.feedTokenMaker),
                "token in the feed's address, 16 bytes or more; starwatch feed url makes it"
            )
            Entry(
                "web_config_file",
                \.webConfigFile,
                as: .webConfiguration(.control),
                "TLS, or users instead of a token"
            )
        } check: { control, options, section in
            if let problem = ControlSocket.problem(ofPath: control.socket) {
                section.report("\(problem).", at: "socket")
            }
            if let listen = control.listen, listen == options.http.listen, !listen.hasSuffix(":0") {
                section.report("is the address of http.listen; use another port.", at: "listen")
            }
            guard section.has("listen") else { return }
            if !section.has("token_file"), !section.has("web_config_file") {
                section.report("opens the control API on TCP, which needs token_file; add that.", at: "listen")
            }
            let web = section.journal.webConfigurations[.control]
            if let problem = web?.problem(hasToken: section.has("token_file")) {
                section.report(problem, at: "web_config_file")
            }
        }
    }
}
