public import StarwatchCore

/// Everything an agent can be told, with its defaults. A value: parsed once, validated whole, passed down in pieces.
///
/// Paths are absolute, or relative to the working directory; the configuration file's loader has resolved them.
public struct AgentOptions: Sendable, Hashable {
    public var server = ServerOptions()
    /// The active identity of a database that has none yet; afterwards the database holds it. `nil`: signed out.
    public var initialIdentity: DID?
    public var auth = AuthOptions()
    public var storage = StorageOptions()
    /// At most 16. At least one.
    public var polls: [PollOptions] = []
    public var outbox = OutboxOptions()
    public var delivery = DeliveryOptions()
    public var acknowledge = AcknowledgeOptions()
    public var limits = LimitOptions()
    public var clock = ClockOptions()
    public var http = HTTPOptions()
    public var control = ControlOptions()
    public var log = LogOptions()

    public init() {}
}

public struct ServerOptions: Sendable, Hashable {
    /// Scheme, host and port; a path is kept as a prefix of every endpoint.
    public var url = "https://api.endorser.ch"
    public var dialect = DialectChoice.auto
    /// The whole of a request, its body included. 30 s (R-EP-14).
    public var timeout: Duration = .seconds(30)
    /// The largest answer, after decompression. 10 MiB (R-EP-14).
    public var maxResponseBytes = 10 * 1_048_576
    /// An extra trust anchor, in PEM form.
    public var caFile: String?
    /// `sha256//…` as libcurl takes it.
    public var pinnedPublicKey: String?

    public init() {}
}

public enum DialectChoice: String, Sendable, CaseIterable {
    /// Decided from the server's first answer, and remembered.
    case auto
    case endorser
    case canonical

    /// `nil` for `auto`.
    public var fixed: Dialect? { Dialect(rawValue: rawValue) }
}

public struct AuthOptions: Sendable, Hashable {
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

    public var kind = Kind.none
    public var secretFile: String?
    public var keyFile: String?
    public var tokensFile: String?
    public var argv: [String]?
    /// How long a minted token lives; `nil` means 60 s for `did_key` and 60 min otherwise.
    public var lifetime: Duration?
    public var refreshBefore: Duration = .seconds(600)

    public init() {}
}

public struct StorageOptions: Sendable, Hashable {
    public enum Owner: String, Sendable, CaseIterable {
        /// The agent creates and migrates the database.
        case agent
        /// The host application does; the agent only asserts the version.
        case host
    }

    public var path = "./starwatch.db"
    public var owner = Owner.agent

    public init() {}
}

public struct PollOptions: Sendable, Hashable {
    public enum Bootstrap: String, Sendable, CaseIterable {
        /// The first run announces nothing and starts at the newest change.
        case latest
        /// The first run announces everything the server has.
        case beginning
    }

    /// When a poll runs.
    public enum Timing: Sendable, Hashable {
        /// Five fields, in an IANA zone.
        case cron(String, timezone: String)
        /// At least 1 s; the first run is at start.
        case every(Duration)
    }

    public var name: PollName
    public var kind: PollKind
    public var timing: Timing = .cron("*/15 * * * *", timezone: "UTC")
    public var catchUp = CatchUp.latest
    /// The range of this instance's fixed delay after the scheduled time.
    public var splay: Duration = .zero
    public var staleAfter: Duration = .seconds(4 * 3600)
    /// The starred plans of a database that has none yet; afterwards the database holds them.
    public var planIDs: [String] = []
    public var bootstrap = Bootstrap.latest
    public var validation = Validation.lenient
    /// Refuse invalid items one by one, not the page.
    public var quarantineInvalid = false

    public init(name: PollName, kind: PollKind) {
        self.name = name
        self.kind = kind
    }
}

public struct OutboxOptions: Sendable, Hashable {
    /// The most rows that are pending or claimed.
    public var maxUndelivered = 1000
    /// The fraction of ``maxUndelivered`` from which polling pauses.
    public var backpressureThreshold = 0.8
    public var eviction = EvictionPolicy.fifo
    /// How often a row is tried before it is dead; at least 1.
    public var maxRetries = 3
    public var cleanupInterval: Duration = .seconds(3600)
    public var keepDelivered: Duration = .seconds(7 * 86_400)

    public init() {}
}

public struct DeliveryOptions: Sendable, Hashable {
    public var groupWait: Duration = .zero
    public var groupInterval: Duration = .seconds(300)
    /// The largest group that is "several"; above it "many".
    public var maxGroupSize = 5
    public var locale = "en"
    /// At most 16. At least one.
    public var sinks: [SinkOptions] = []

    public init() {}
}

public struct SinkOptions: Sendable, Hashable {
    /// What a sink is, with what it needs.
    public enum Kind: Sendable, Hashable {
        /// Title and body on standard output, for a person.
        case stdout
        /// A structured log entry without the personal parts.
        case log
        /// JSON lines appended to a file.
        case file(path: String)
        /// Standard Webhooks; signed when a secret is given.
        case webhook(url: String, secretFile: String?, timeout: Duration)
        case ntfy(url: String, topic: String, tokenFile: String?)
        /// The notification on standard input; never through a shell.
        case command(argv: [String], timeout: Duration)
    }

    /// `[a-z][a-z0-9_]{0,62}`, unique, and not `server`: it becomes a label value.
    public var name: String
    public var kind: Kind

    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

public struct AcknowledgeOptions: Sendable, Hashable {
    public enum Mode: String, Sendable, CaseIterable {
        /// To the server where it can, else locally.
        case auto
        case server
        case local
    }

    public var mode = Mode.auto
    /// At most 100.
    public var batchSize = 100

    public init() {}
}

public struct LimitOptions: Sendable, Hashable {
    public var requestsPerMinute = 100
    /// Acknowledged identifiers per minute.
    public var acknowledgementsPerMinute = 1000
    public var maxConcurrentPolls = 3

    public init() {}
}

public struct ClockOptions: Sendable, Hashable {
    public enum Source: String, Sendable, CaseIterable {
        case auto
        case timeEndpoint = "time_endpoint"
        case dateHeader = "date_header"
        case ntp
        /// The local clock is believed.
        case system
    }

    public var source = Source.auto
    public var checkInterval: Duration = .seconds(300)
    public var maxSkew: Duration = .seconds(30)

    public init() {}
}

public struct HTTPOptions: Sendable, Hashable {
    /// `host:port`; port 0 takes a free one.
    public var listen = "127.0.0.1:9464"
    public var webConfigFile: String?
    /// Where the dashboards are: a link on the status page.
    public var dashboardsURL: String?

    public init() {}
}

public struct ControlOptions: Sendable, Hashable {
    /// Created with mode 0600.
    public var socket = "./starwatch.sock"
    /// The control API on TCP; only together with ``tokenFile``.
    public var listen: String?
    public var tokenFile: String?

    public init() {}
}

public struct LogOptions: Sendable, Hashable {
    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    public enum Format: String, Sendable, CaseIterable {
        case json, text
    }

    public var level = Level.info
    public var format = Format.json

    public init() {}
}
