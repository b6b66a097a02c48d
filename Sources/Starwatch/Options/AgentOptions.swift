public import StarwatchCore

/// Options of an agent, with their defaults. They are parsed once, validated as a whole, and passed down in parts.
///
/// `AgentOptions()` has no polls and no sinks, so its agent does nothing: add at least one of each. Every other option
/// has the default of the configuration file. Paths are absolute, or relative to the working directory. The
/// configuration file's loader has already resolved them.
public struct AgentOptions: Sendable, Hashable {
    public var server = ServerOptions()
    /// The active identity of a new database. It only seeds the database; later edits are ignored. `nil`, the default:
    /// signed out, and every poll is skipped.
    public var initialIdentity: DID?
    /// The accounts that the agent works for.
    public var accounts = AccountMode.one
    public var fleet = FleetOptions()
    public var auth = AuthOptions()
    public var storage = StorageOptions()
    public var security = SecurityOptions()
    /// The polls: at most 16, each with a unique name. Empty by default.
    public var polls: [PollOptions] = []
    public var outbox = OutboxOptions()
    public var delivery = DeliveryOptions()
    public var acknowledge = AcknowledgeOptions()
    public var limits = LimitOptions()
    public var clock = ClockOptions()
    public var http = HTTPOptions()
    public var control = ControlOptions()
    public var log = LogOptions()
    /// The digests: at most 16, each with a unique name. Empty by default.
    public var digests: [DigestOptions] = []
    public var callbacks = CallbackOptions()
    /// Synthetic changes that prove delivery. `nil`, the default: none.
    public var canary: CanaryOptions?
    /// Retry policy of ``Agent/pollManager`` for requests without one of their own. It replaces the policy of each
    /// failure class. `nil` by default. Only a host program can set it: the configuration file has no such setting.
    public var hostPollRetry: RetryPolicy?

    public init() {}

    /// Whether there is no poll of an Endorser server.
    package var pollsListsAlone: Bool { !polls.isEmpty && polls.allSatisfy(\.kind.isList) }
}

/// The Endorser server and the connection to it.
public struct ServerOptions: Sendable, Hashable {
    /// Scheme, host and port. A path becomes a prefix of every endpoint. By default `https://api.endorser.ch`.
    public var url = "https://api.endorser.ch"
    /// The server's dialect. By default `auto`.
    public var dialect = DialectChoice.auto
    /// The timeout of a whole request, including the response body. By default 30 s.
    public var timeout: Duration = .seconds(30)
    /// Attempts of one request by a poll, with the first, from 1 to 10. `nil`, the default: 5 when the server limits the
    /// rate or is unavailable, otherwise 3. It changes no wait.
    public var retryAttempts: Int?
    /// The maximum size of a response after decompression. By default 10 MiB.
    public var maxResponseBytes = 10 * 1_048_576
    /// `User-Agent` of every request. `nil`, the default: `Starwatch/` and the version.
    public var userAgent: String?
    /// `X-Client-Version` of every request, and `clientVersion` of acknowledgements. `nil`, the default:
    /// `Starwatch/` and the version.
    public var clientVersion: String?
    /// A PEM file of additional trust anchors, for this server only. `nil`, the default: only the distribution's bundle.
    public var caFile: String?
    /// The HTTP or SOCKS proxy of requests to this server, such as `http://proxy.internal:3128`; `environment` for
    /// `HTTPS_PROXY` and `NO_PROXY` of the process. Requests to this machine use none. `nil`, the default: none, whatever
    /// the environment says.
    public var proxy: String?
    /// A file with the user and the password at ``proxy``, as `user:password`. `nil`, the default: no login.
    public var proxyLoginFile: String?
    /// Pinned public keys of this server, `sha256//…` in libcurl's format, joined with `;`. `nil`, the default: no pinning.
    public var pinnedPublicKey: String?

    public init() {}
}

/// The server's dialect, or its detection.
public enum DialectChoice: String, Sendable, CaseIterable {
    /// Detected from the server's first response, and stored.
    case auto
    /// `Dialect.endorser`.
    case endorser
    /// `Dialect.canonical`.
    case canonical

    /// The configured dialect; `nil` for `auto`.
    public var fixed: Dialect? { Dialect(rawValue: rawValue) }
}

/// Source of the tokens for requests.
public struct AuthOptions: Sendable, Hashable {
    /// The kinds of token sources.
    public enum Kind: String, Sendable, CaseIterable {
        /// Requests carry no token.
        case none
        /// HS256 under ``AuthOptions/secretFile``.
        case sharedSecret = "shared_secret"
        /// ES256K under ``AuthOptions/keyFile``, for `did:ethr`.
        case didKey = "did_key"
        /// Tokens created elsewhere, from ``AuthOptions/tokensFile``.
        case tokenPool = "token_pool"
        /// The output of ``AuthOptions/argv``.
        case command
    }

    /// The kind of the source. By default `none`. Every other kind needs the option that it names; the rest can be
    /// `nil`.
    public var kind = Kind.none
    /// A file of mode 0600 with the secret's bytes.
    public var secretFile: String?
    /// A file of mode 0600 with the private key: 64 hexadecimal digits or PEM.
    public var keyFile: String?
    /// Whether the key of ``Kind/sharedSecret`` or ``Kind/didKey`` is stored in the encrypted database, where
    /// `starwatch keys import` puts it, instead of a file. By default `false`; with many accounts `true` without a file.
    public var storedKeys = false
    /// A file of mode 0600 with one token per line, or a JSON array of tokens.
    public var tokensFile: String?
    /// The program that prints a token, and its arguments. No shell is used.
    public var argv: [String]?
    /// Lifetime of a minted token. `nil`, the default: 60 s for `did_key` and 60 min otherwise.
    public var lifetime: Duration?
    /// Time before expiry at which a token is refreshed, at most half its lifetime. By default 10 min.
    public var refreshBefore: Duration = .seconds(600)
    /// The `scope` claim of a minted token, for a server that asks for another one. By default `notifications`. Tokens of the
    /// dialect `endorser` have none.
    public var scope = TokenScope.standard

    /// The algorithm of the signing key; `nil` if the kind signs no tokens.
    package var signingAlgorithm: SigningAlgorithm? {
        switch kind {
        case .sharedSecret: .hs256
        case .didKey: .es256k
        case .none, .tokenPool, .command: nil
        }
    }

    /// The lifetime of a minted token.
    package var tokenLifetime: Duration { lifetime ?? .seconds(kind == .didKey ? 60 : 3600) }

    public init() {}
}

/// The encryption of the database.
///
/// Without a master key the database is not encrypted. With one, a new database is encrypted, and an existing one must be:
/// `starwatch keys encrypt-database` does it.
public struct SecurityOptions: Sendable, Hashable {
    /// A file of mode 0600 with the master key: 32 bytes in base64. `nil` by default.
    public var masterKeyFile: String?
    /// The program that prints the master key in the same form, and its arguments. No shell is used. `nil` by default.
    public var masterKeyCommand: [String]?
    /// The master key itself, from a host program. It takes precedence over file and command. `nil` by default.
    public var masterKey: DatabaseKey?

    public init() {}

    /// Whether there is a master key.
    package var isEncrypted: Bool { masterKey != nil || masterKeyFile != nil || masterKeyCommand != nil }
}

/// The database.
public struct StorageOptions: Sendable, Hashable {
    /// The program that creates and migrates the database.
    public enum Owner: String, Sendable, CaseIterable {
        /// The agent creates and migrates the database.
        case agent
        /// The host application creates and migrates it; the agent only checks the version.
        case host
    }

    /// The SQLite file. By default `./starwatch.db`. Only one agent can open it at a time.
    public var path = "./starwatch.db"
    /// The owner of the database. By default `agent`.
    public var owner = Owner.agent
    /// Retention of the copy that the agent makes before it upgrades the database, `DATABASE.before-VERSION`. By default 7
    /// days; zero makes none.
    public var keepBeforeUpgrade: Duration = .seconds(7 * 86_400)

    public init() {}
}

/// One poll.
public struct PollOptions: Sendable, Hashable {
    /// The changes that the first run of a poll announces.
    public enum Bootstrap: String, Sendable, CaseIterable {
        /// The first run announces nothing and starts at the newest change.
        case latest
        /// The first run announces what changed in the last seven days.
        case lastWeek = "last_week"
        /// The first run announces everything the server has.
        case beginning
    }

    public typealias Timing = PollTiming

    /// A unique name. It becomes a label value.
    public var name: PollName
    /// The changes that the poll requests.
    public var kind: PollKind
    /// Whether the poll runs. By default `true`. A poll that is off keeps its place and its rows; the changes that it has
    /// fetched are still delivered.
    public var isEnabled = true
    /// The schedule. By default every 15 minutes, in UTC.
    public var timing: Timing = .cron("*/15 * * * *", timezone: "UTC")
    /// Handling of missed runs. By default one run replaces all of them.
    public var catchUp = CatchUp.latest
    /// The range of this instance's fixed delay after the scheduled time. By default zero.
    public var splay: Duration = .zero
    /// Maximum time without a success. After it, the poll is stale and the agent degraded. `nil`, the default: the
    /// schedule's longest gap plus 1 h, at least 4 h (`Schedule.staleAfter(from:)`).
    public var staleAfter: Duration?
    /// The starred plans of an identity whose stars were never set. They only seed the database; later edits are
    /// ignored. Empty by default. Only polls of the kind `starred_projects` use it.
    public var planIDs: [String] = []
    /// The place near which a poll of the kind `projects_of_interest` looks for projects. `nil`, the default: none.
    public var near: GeoCircle?
    /// The words for which it looks. Empty by default.
    public var words: [String] = []
    /// The list of a poll of the kind `json`, which needs one. `nil`, the default: none.
    public var json: JSONPoll?
    /// Texts of a poll of the kind `json`, in place of the catalogue's. By default it has none.
    public var texts = PollTexts()
    /// The behaviour of the first run. By default `latest`.
    public var bootstrap = Bootstrap.latest
    /// Strictness of response validation. By default `lenient`.
    public var validation = Validation.lenient
    /// Treatment of invalid items. By default the third rejection of a page in a row sets them aside and delivers the
    /// rest; with strict ``validation`` it never does, unless this is ``QuarantinePolicy/atOnce``.
    public var quarantineInvalid = QuarantinePolicy.standard
    /// This poll's ``DeliveryOptions/groupInterval``. `nil`, the default: the value for all polls.
    public var groupInterval: Duration?
    /// This poll's ``DeliveryOptions/maxGroupSize``. `nil`, the default: the value for all polls.
    public var maxGroupSize: Int?
    /// Priority of the poll's changes over those of other polls. Among due rows, a higher priority is delivered
    /// first. If ``OutboxOptions/eviction`` is `priority`, rows with a higher priority leave a full outbox last.
    /// Eviction uses the priority from when the change was stored. By default 0.
    public var priority = 0

    public init(name: PollName, kind: PollKind) {
        self.name = name
        self.kind = kind
    }
}

/// Limits and retention of the outbox.
public struct OutboxOptions: Sendable, Hashable {
    /// Maximum number of rows that are pending or claimed. By default 1,000.
    public var maxUndelivered = 1000
    /// Fraction of ``maxUndelivered`` at which polling pauses, above 0 and at most 1. By default 0.8.
    public var backpressureThreshold = 0.8
    /// Order in which rows leave an outbox that is over its limit. By default `fifo`; `priority` uses
    /// ``PollOptions/priority``.
    public var eviction = EvictionPolicy.fifo
    /// Maximum rejections of a notification by each sink, at least 1. After them, the sink is not tried again. By
    /// default 3. Attempts while a sink is down do not count. A row becomes a dead letter if one sink gives up, even if
    /// others took it.
    public var maxRetries = 3
    /// Interval between removals of expired rows, logs and history. By default 1 h.
    public var cleanupInterval: Duration = .seconds(3600)
    /// Retention of finished rows, except dead ones. By default 7 days.
    public var keepDelivered: Duration = .seconds(7 * 86_400)

    public init() {}
}

/// Grouping of changes into notifications, and the sinks.
public struct DeliveryOptions: Sendable, Hashable {
    /// Time that the first change of a group waits for others. By default zero.
    public var groupWait: Duration = .zero
    /// Minimum time between two notifications of a poll. By default 5 min.
    public var groupInterval: Duration = .seconds(300)
    /// The largest group that is called "several"; a larger one is "many". By default 5.
    public var maxGroupSize = 5
    /// Language of the texts, as a BCP 47 tag: `pl-PL` is Polish. A language without a catalogue falls back to English.
    /// By default `en`.
    public var locale = "en"
    /// Catalogues of the texts. By default the built-in ones, in English, Polish and Japanese.
    public var catalogues = MessageCatalogues.builtIn
    /// The folder of additional catalogues in the configuration file, for display. `nil`, the default: none.
    public var catalogueFolder: String?
    /// The host program's project names by handle. They take precedence over the server's names. Empty by default.
    public var projectNames: [String: String] = [:]
    /// Announces the account's own changes, offers and gifts too. By default `false`.
    public var announceOwn = false
    /// Whether the user gets one quiet notice while a poll is stale. `nil`, the default: yes, but not with ``AccountMode/many``
    /// accounts, each visit of which would look for one.
    public var stalenessNotice: Bool?
    /// The sinks: at most 16, each with a unique name. Empty by default.
    public var sinks: [SinkOptions] = []

    public init() {}
}

/// Synthetic changes, which go through the outbox to the sinks that are marked for them.
public struct CanaryOptions: Sendable, Hashable {
    /// The time between two of them, 1 min to 1 d. By default 1 h.
    public var every: Duration = .seconds(3600)
    /// The account that gets them, of ``AccountMode/many``. `nil`, the default: the active identity.
    public var account: DID?

    public init() {}
}

/// Acknowledgement of delivered changes.
public struct AcknowledgeOptions: Sendable, Hashable {
    /// Destination of acknowledgements.
    public enum Mode: String, Sendable, CaseIterable {
        /// The server if it supports acknowledgements, else the local database.
        case auto
        /// The server for changes of plans, whatever its dialect; always the database for offers.
        case server
        /// The database only.
        case local
    }

    /// The destination. By default `auto`.
    public var mode = Mode.auto
    /// Maximum number of changes in one request, 1 to 100. By default 100.
    public var batchSize = 100

    public init() {}
}

/// The accounts that an agent works for.
public enum AccountMode: String, Sendable, CaseIterable {
    /// The active identity.
    case one
    /// Those that `starwatch accounts add` stored, each with its own stars, outbox and watermarks.
    case many
}

/// Settings of an agent for ``AccountMode/many`` accounts.
public struct FleetOptions: Sendable, Hashable {
    /// Requests to the server in any second, of all accounts together. By default 10.
    public var requestsPerSecond = 10
    /// Whether accounts share requests that have no token and name none of them. By default `true`.
    public var sharedRequests = true

    public init() {}
}

/// Measurement of the clock against the server's.
public struct ClockOptions: Sendable, Hashable {
    /// Source of the server's time.
    public enum Source: String, Sendable, CaseIterable {
        /// The time endpoint if the dialect has one, else the `Date` header of responses.
        case auto
        /// The same as `auto`, but the endpoint is tried also before the dialect is known.
        case timeEndpoint = "time_endpoint"
        /// The `Date` header of responses.
        case dateHeader = "date_header"
        /// The servers of ``ClockOptions/ntpServers``; the Endorser server's responses are ignored.
        case ntp
        /// The local clock, unchecked.
        case system
    }

    /// The source. By default `auto`.
    public var source = Source.auto
    /// `host` or `host:port` of the time servers for ``Source/ntp``, at most 8; the default port is 123. An IPv6 address
    /// needs brackets. The next one is asked if one does not answer. By default `pool.ntp.org` and `time.google.com`.
    public var ntpServers = ["pool.ntp.org", "time.google.com"]
    /// A single time server, which replaces ``ntpServers``. `nil` by default.
    public var ntpServer: String?
    /// Interval between clock checks. By default 5 min. An NTP server is queried at most every 15 s.
    public var checkInterval: Duration = .seconds(300)
    /// Clock skew, in either direction, at which the agent is degraded. By default 30 s.
    public var maxSkew: Duration = .seconds(30)

    public init() {}
}

/// The read-only server: `/metrics`, health and the status page.
public struct HTTPOptions: Sendable, Hashable {
    /// `host:port`; port 0 takes a free one. By default `127.0.0.1:9464`.
    public var listen = "127.0.0.1:9464"
    /// A file with the TLS, the users and the headers of the port. `nil`, the default: clear text, without passwords.
    /// `AgentServers.http(web:)` of StarwatchHTTP reads it.
    public var webConfigFile: String?
    /// Names that `Host` can contain, besides addresses and `localhost`. By default none. An address that is not
    /// loopback accepts every `Host` if the list is empty. The control API uses the same list.
    public var allowedHosts: [String] = []
    /// URL of the dashboards, linked from the status page. `nil`, the default: no link.
    public var dashboardsURL: String?

    public init() {}
}

/// The log on standard error.
public struct LogOptions: Sendable, Hashable {
    /// The levels, from the most to the least verbose.
    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// Format of a line: a JSON object, or text for a person.
    public enum Format: String, Sendable, CaseIterable { case json, text }

    /// The lowest level that is written. By default `info`.
    public var level = Level.info
    /// The form of a line. By default `json`.
    public var format = Format.json

    public init() {}
}
