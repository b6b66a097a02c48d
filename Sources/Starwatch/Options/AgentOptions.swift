public import StarwatchCore

/// Everything an agent can be told, with its defaults. A value: parsed once, validated whole, passed down in pieces.
///
/// `AgentOptions()` has no polls and no sinks, so an agent made of it does nothing: give it at least one of each. All
/// else has the default of the configuration file. Paths are absolute, or relative to the working directory; the
/// configuration file's loader has resolved them.
public struct AgentOptions: Sendable, Hashable {
    public var server = ServerOptions()
    /// The active identity of a database that never had one; afterwards the database holds it, and this does nothing.
    /// `nil`, the default: signed out, and every poll is skipped.
    public var initialIdentity: DID?
    public var auth = AuthOptions()
    public var storage = StorageOptions()
    /// At most 16, each with a name of its own. Empty by default.
    public var polls: [PollOptions] = []
    public var outbox = OutboxOptions()
    public var delivery = DeliveryOptions()
    public var acknowledge = AcknowledgeOptions()
    public var limits = LimitOptions()
    public var clock = ClockOptions()
    public var http = HTTPOptions()
    public var control = ControlOptions()
    public var log = LogOptions()
    /// At most 16, each with a name of its own. Empty by default.
    public var digests: [DigestOptions] = []
    public var callbacks = CallbackOptions()
    /// How ``Agent/pollManager`` tries requests again that have no policy of their own, in place of the policy of each
    /// class of failures. `nil` by default. A host's only: the configuration file does not have it.
    public var hostPollRetry: RetryPolicy?

    public init() {}
}

/// The Endorser server, and how it is reached.
public struct ServerOptions: Sendable, Hashable {
    /// Scheme, host and port; a path is kept as a prefix of every endpoint. By default `https://api.endorser.ch`.
    public var url = "https://api.endorser.ch"
    /// Which dialect the server speaks. By default `auto`.
    public var dialect = DialectChoice.auto
    /// The limit of a whole request, its answer's body included. By default 30 s (R-EP-14).
    public var timeout: Duration = .seconds(30)
    /// The largest answer, after decompression. By default 10 MiB (R-EP-14).
    public var maxResponseBytes = 10 * 1_048_576
    /// A PEM file of further trust anchors. `nil`, the default: the distribution's bundle alone.
    public var caFile: String?
    /// `sha256//…` as libcurl takes it, several joined with `;`. `nil`, the default: no pinning.
    public var pinnedPublicKey: String?

    public init() {}
}

/// The server's dialect, or how it is found out.
public enum DialectChoice: String, Sendable, CaseIterable {
    /// Decided from the server's first answer, and remembered.
    case auto
    /// ``Dialect/endorser``.
    case endorser
    /// ``Dialect/canonical``.
    case canonical

    /// `nil` for `auto`.
    public var fixed: Dialect? { Dialect(rawValue: rawValue) }
}

/// Where the tokens of requests come from.
public struct AuthOptions: Sendable, Hashable {
    /// The sources of tokens.
    public enum Kind: String, Sendable, CaseIterable {
        /// Requests carry no token.
        case none
        /// HS256 under ``AuthOptions/secretFile``.
        case sharedSecret = "shared_secret"
        /// ES256K under ``AuthOptions/keyFile``, for `did:ethr`.
        case didKey = "did_key"
        /// Tokens made elsewhere, from ``AuthOptions/tokensFile``.
        case tokenPool = "token_pool"
        /// The output of ``AuthOptions/argv``.
        case command
    }

    /// By default `none`. Each other kind needs the option it names; the rest may be `nil`.
    public var kind = Kind.none
    /// A file of mode 0600 that holds the secret's bytes.
    public var secretFile: String?
    /// A file of mode 0600 that holds the private key: 64 hexadecimal digits or PEM.
    public var keyFile: String?
    /// A file of mode 0600 that holds one token a line, or a JSON array of them.
    public var tokensFile: String?
    /// The program that prints a token, and its arguments; no shell takes part.
    public var argv: [String]?
    /// How long a minted token lives. `nil`, the default: 60 s for `did_key` and 60 min otherwise.
    public var lifetime: Duration?
    /// A new token is had so long before the old one ends, at most half its lifetime. By default 10 min.
    public var refreshBefore: Duration = .seconds(600)

    public init() {}
}

/// The database.
public struct StorageOptions: Sendable, Hashable {
    /// Who creates and migrates the database.
    public enum Owner: String, Sendable, CaseIterable {
        /// The agent creates and migrates the database.
        case agent
        /// The host application does; the agent only asserts the version.
        case host
    }

    /// The SQLite file. By default `./starwatch.db`. Only one agent at a time can open it.
    public var path = "./starwatch.db"
    /// By default `agent`.
    public var owner = Owner.agent

    public init() {}
}

/// One poll.
public struct PollOptions: Sendable, Hashable {
    /// What the first run of a poll announces.
    public enum Bootstrap: String, Sendable, CaseIterable {
        /// The first run announces nothing and starts at the newest change.
        case latest
        /// The first run announces everything the server has.
        case beginning
    }

    public typealias Timing = PollTiming

    /// Unique. It becomes a label value.
    public var name: PollName
    /// What is asked for.
    public var kind: PollKind
    /// By default every 15 minutes, in UTC.
    public var timing: Timing = .cron("*/15 * * * *", timezone: "UTC")
    /// What becomes of runs that were missed. By default one run makes up for all of them.
    public var catchUp = CatchUp.latest
    /// The range of this instance's fixed delay after the scheduled time. By default zero.
    public var splay: Duration = .zero
    /// Without a success for so long, the poll is stale and the agent degraded. By default 4 h.
    public var staleAfter: Duration = .seconds(4 * 3600)
    /// The starred plans of an identity whose stars were never set; afterwards the database holds them, and this does
    /// nothing. Empty by default; only polls of the kind `starred_projects` use it.
    public var planIDs: [String] = []
    /// By default `latest`.
    public var bootstrap = Bootstrap.latest
    /// How strictly answers are checked. By default `lenient`.
    public var validation = Validation.lenient
    /// Refuse invalid items one by one, not the page. By default `false`.
    public var quarantineInvalid = false
    /// As ``DeliveryOptions/groupInterval``, of this poll. `nil`, the default: that of all.
    public var groupInterval: Duration?
    /// As ``DeliveryOptions/maxGroupSize``, of this poll. `nil`, the default: that of all.
    public var maxGroupSize: Int?
    /// How its changes rank among those of other polls (C-053): of what is due, the higher is delivered first. Where
    /// ``OutboxOptions/eviction`` is `priority`, the higher leaves a full outbox last, by what it was when a change was
    /// stored. By default 0.
    public var priority = 0

    public init(name: PollName, kind: PollKind) {
        self.name = name
        self.kind = kind
    }
}

/// How much the outbox holds, and for how long.
public struct OutboxOptions: Sendable, Hashable {
    /// The most rows that are pending or claimed. By default 1,000.
    public var maxUndelivered = 1000
    /// The fraction of ``maxUndelivered`` from which polling pauses, above 0 and at most 1. By default 0.8.
    public var backpressureThreshold = 0.8
    /// Which rows leave an outbox that is over its limit. By default `fifo`; `priority` goes by
    /// ``PollOptions/priority``.
    public var eviction = EvictionPolicy.fifo
    /// How often each sink may reject a notification before it is not offered to it again; at least 1. By default 3.
    /// Tries while a sink is down do not count. A row that one sink gave up is dead, whichever others took it.
    public var maxRetries = 3
    /// How often rows, logs and history that are too old are removed. By default 1 h.
    public var cleanupInterval: Duration = .seconds(3600)
    /// How long rows are kept after their end, dead ones excepted. By default 7 days.
    public var keepDelivered: Duration = .seconds(7 * 86_400)

    public init() {}
}

/// How changes become notifications, and where these go.
public struct DeliveryOptions: Sendable, Hashable {
    /// How long the first change of a group waits for others. By default zero.
    public var groupWait: Duration = .zero
    /// At most one notification of a poll in this time. By default 5 min.
    public var groupInterval: Duration = .seconds(300)
    /// The largest group that is "several"; above it "many". By default 5.
    public var maxGroupSize = 5
    /// The language of the texts, by a BCP 47 tag: `pl-PL` is Polish, and what there is no catalogue for is English.
    /// By default `en`.
    public var locale = "en"
    /// The texts. By default those of the program, in English, Polish and Japanese.
    public var catalogues = MessageCatalogues.builtIn
    /// The folder that the configuration file takes further catalogues from, for show. `nil`, the default: none.
    public var catalogueFolder: String?
    /// What the host calls its projects, by handle; before the server's names. Empty by default.
    public var projectNames: [String: String] = [:]
    /// Whether the person is told, once and quietly, while a poll is stale. By default `false`.
    public var stalenessNotice = false
    /// At most 16, each with a name of its own. Empty by default.
    public var sinks: [SinkOptions] = []

    public init() {}
}

/// One receiver of notifications.
public struct SinkOptions: Sendable, Hashable {
    /// What a sink is, with what it needs.
    public enum Kind: Sendable, Hashable {
        /// Title and body on standard output, for a person.
        case stdout
        /// A structured log entry without the personal parts.
        case log
        /// The last `keep` notifications in the database, for the control API and its feed page. One at most.
        case feed(keep: Int)
        /// JSON lines appended to a file of mode 0600.
        case file(path: String)
        /// Standard Webhooks, each request within `timeout`; unsigned when `secretFile` is `nil`.
        case webhook(url: String, secretFile: String?, timeout: Duration)
        /// A topic of an ntfy server; without a token when `tokenFile` is `nil`.
        case ntfy(url: String, topic: String, tokenFile: String?)
        /// The notification as JSON on the standard input of a program, which is ended after `timeout`; never through
        /// a shell.
        case command(argv: [String], timeout: Duration)
    }

    /// `[a-z][a-z0-9_]{0,62}`, unique, and not `server`: it becomes a label value.
    public var name: String
    /// What it is.
    public var kind: Kind

    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// How delivered changes are acknowledged.
public struct AcknowledgeOptions: Sendable, Hashable {
    /// Where changes are acknowledged.
    public enum Mode: String, Sendable, CaseIterable {
        /// To the server where it can, else locally.
        case auto
        /// Changes of plans to the server, whatever its dialect; offers in the database, as always.
        case server
        /// In the database only.
        case local
    }

    /// By default `auto`.
    public var mode = Mode.auto
    /// The most changes in one request, 1 to 100. By default 100.
    public var batchSize = 100

    public init() {}
}

/// What the agent asks of the server at most, and how long it takes to stop.
public struct LimitOptions: Sendable, Hashable {
    /// Requests in any 60 s, retries included. By default 100.
    public var requestsPerMinute = 100
    /// Acknowledged identifiers in any 60 s. By default 1,000.
    public var acknowledgementsPerMinute = 1000
    /// Cycles under way at once. By default 3.
    public var maxConcurrentPolls = 3
    /// How long a cycle may go on asking for pages; what is left then is the next one's. By default 10 min (R-SCH-08).
    ///
    /// Looked at after each page. A cycle that the next one could not go on from comes to its end: the first of a poll,
    /// one over plans of several requests, and one that fetches again what was dropped for room.
    public var cycle = Duration.seconds(600)
    /// How long stopping may take: what is under way after that is given up, which loses nothing. By default 30 s.
    public var shutdown = Duration.seconds(30)

    public init() {}
}

/// How the clock is measured against the server's.
public struct ClockOptions: Sendable, Hashable {
    /// Where the server's time is read.
    public enum Source: String, Sendable, CaseIterable {
        /// The time endpoint where the dialect has one, else the `Date` of answers.
        case auto
        /// As `auto`, and the endpoint is tried before the dialect is known too.
        case timeEndpoint = "time_endpoint"
        /// The `Date` of answers.
        case dateHeader = "date_header"
        /// ``ClockOptions/ntpServer``, and no answer of the Endorser server.
        case ntp
        /// The local clock is believed.
        case system
    }

    /// By default `auto`.
    public var source = Source.auto
    /// `host` or `host:port` of the time server that ``Source/ntp`` asks; by default, port 123. An IPv6 address stands in
    /// brackets. `nil`, the default: none, so that `ntp` cannot be used.
    public var ntpServer: String?
    /// How often the clocks are compared. By default 5 min. An NTP server is asked every 15 s at most.
    public var checkInterval: Duration = .seconds(300)
    /// The skew from which on the agent is degraded, either way. By default 30 s.
    public var maxSkew: Duration = .seconds(30)

    public init() {}
}

/// The read-only server: `/metrics`, health and the status page.
public struct HTTPOptions: Sendable, Hashable {
    /// `host:port`; port 0 takes a free one. By default `127.0.0.1:9464`.
    public var listen = "127.0.0.1:9464"
    /// Does nothing in this version; the configuration file's loader refuses it.
    public var webConfigFile: String?
    /// Where the dashboards are, for a link on the status page. `nil`, the default: no link.
    public var dashboardsURL: String?

    public init() {}
}

/// The control API, which the command line uses.
public struct ControlOptions: Sendable, Hashable {
    /// The Unix socket, created with mode 0600. By default `./starwatch.sock`. At most 107 bytes, its directory 95.
    public var socket = "./starwatch.sock"
    /// `host:port` of the control API on TCP. `nil`, the default, or without ``tokenFile``: it is not on TCP.
    public var listen: String?
    /// A file of mode 0600 that holds the bearer token of requests over TCP.
    public var tokenFile: String?

    public init() {}
}

/// The log on standard error.
public struct LogOptions: Sendable, Hashable {
    /// The levels, from the most to the least.
    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The form of a line: a JSON object, or text for a person.
    public enum Format: String, Sendable, CaseIterable {
        case json, text
    }

    /// The least level that is written. By default `info`.
    public var level = Level.info
    /// By default `json`.
    public var format = Format.json

    public init() {}
}
