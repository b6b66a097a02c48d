public import StarwatchCore

/// What the agent says of itself: `starwatch status --json` and `GET /api/v1/status`. Holds no personal data.
///
/// Times are RFC 3339 in UTC with milliseconds, such as `2026-01-01T12:00:00.000Z`. What is `nil` is left out of the
/// JSON.
public struct AgentStatus: Sendable, Codable, Hashable {
    /// `healthy` or `degraded`.
    public enum Health: String, Sendable, Codable, CaseIterable {
        case healthy
        case degraded
    }

    /// One poll.
    public struct Poll: Sendable, Codable, Hashable {
        /// What it asks for.
        public var kind: PollKind
        /// Whether the last success, or else the agent's start, is longer ago than ``staleAfterSeconds``, and so is the
        /// time at which this was last switched on. `false` when signed out or opted out, and without stars where these
        /// are asked for.
        public var stale: Bool
        /// When a cycle last reached the server; `nil` if none did, or when signed out.
        public var lastAttempt: String?
        /// When a cycle last fetched all there was; `nil` as above.
        public var lastSuccess: String?
        /// `changed`, `unchanged`, `bootstrapped`, `deferred` or `failed`; `nil` as above.
        public var lastOutcome: String?
        /// When the schedule fires next; `nil` before the schedule was first looked at.
        public var nextRun: String?
        /// How old the last success may be.
        public var staleAfterSeconds: Double
        /// The server's time up to which every change is finished; `nil` if there is no watermark yet.
        public var watermarkTime: String?
        /// The server's time up to which every change was fetched; `nil` if none was.
        public var fetchCursorTime: String?
        /// Why the latest cycle was skipped; `nil` if it was not, or if there was none since the start.
        public var skipReason: SkipReason?

        enum CodingKeys: String, CodingKey {
            case kind, stale
            case lastAttempt = "last_attempt"
            case lastSuccess = "last_success"
            case lastOutcome = "last_outcome"
            case nextRun = "next_run"
            case staleAfterSeconds = "stale_after_seconds"
            case watermarkTime = "watermark_time"
            case fetchCursorTime = "fetch_cursor_time"
            case skipReason = "skip_reason"
        }

        public init(kind: PollKind, stale: Bool, staleAfterSeconds: Double) {
            self.kind = kind
            self.stale = stale
            self.staleAfterSeconds = staleAfterSeconds
        }
    }

    /// One digest.
    public struct Digest: Sendable, Codable, Hashable {
        /// When it comes next; `nil` when signed out.
        public var nextRun: String?
        /// An IANA name: the zone of its times.
        public var timezone: String
        /// When it last came or should have, in the last two days; `nil` if it did not, or when signed out.
        public var lastRun: String?
        /// What became of it then; `nil` as above.
        public var lastStatus: SlotStatus?
        /// Why it was not shown then; `nil` when it was.
        public var lastErrorCode: SlotCode?

        enum CodingKeys: String, CodingKey {
            case nextRun = "next_run"
            case timezone
            case lastRun = "last_run"
            case lastStatus = "last_status"
            case lastErrorCode = "last_error_code"
        }

        public init(timezone: String) { self.timezone = timezone }
    }

    /// The outbox.
    public struct Outbox: Sendable, Codable, Hashable {
        /// Rows that wait to be delivered.
        public var pending = 0
        /// Rows that are being delivered.
        public var claimed = 0
        /// Delivered rows that are not yet acknowledged.
        public var delivered = 0
        /// Rows that were given up.
        public var dead = 0
        /// The most rows that may be pending or claimed.
        public var capacity = 0
        /// Whether polling pauses because the outbox is nearly full.
        public var backpressure = false
        /// When the oldest pending or claimed row was stored; `nil` if there is none.
        public var oldestPending: String?
        /// Since when the oldest row has been due that could be delivered now; `nil` if there is none.
        public var oldestDue: String?
        /// Rows the books cannot account for; must be 0.
        public var ledgerImbalance = 0
        /// Sink name to `closed`, `half_open`, `open` or `disabled`.
        public var sinks: [String: String] = [:]

        enum CodingKeys: String, CodingKey {
            case pending, claimed, delivered, dead, capacity, backpressure
            case oldestPending = "oldest_pending"
            case oldestDue = "oldest_due"
            case ledgerImbalance = "ledger_imbalance"
            case sinks
        }

        public init() {}
    }

    /// The clock, measured against the server's.
    public struct Clock: Sendable, Codable, Hashable {
        /// Positive: the server is ahead. `nil` before the first sample.
        public var skewSeconds: Double?
        /// How far the skew may be off, either way; `nil` before the first sample.
        public var uncertaintySeconds: Double?
        /// When the server's clock was last read; `nil` before the first sample.
        public var lastSync: String?

        enum CodingKeys: String, CodingKey {
            case skewSeconds = "skew_seconds"
            case uncertaintySeconds = "uncertainty_seconds"
            case lastSync = "last_sync"
        }

        public init() {}
    }

    /// The way to the server.
    public struct Server: Sendable, Codable, Hashable {
        /// `nil` until the first answer, when it is to be found out.
        public var dialect: Dialect?
        /// `closed` (working), `half_open` or `open`.
        public var circuit = "closed"
        /// No request before this time; `nil` when nothing holds requests back.
        public var throttledUntil: String?

        enum CodingKeys: String, CodingKey {
            case dialect, circuit
            case throttledUntil = "throttled_until"
        }

        public init() {}
    }

    /// `degraded` when there are ``reasons``.
    public var status = Health.healthy
    /// Why it is degraded, from a fixed set of words, with the poll's or sink's name after a colon.
    public var reasons: [String] = []
    /// The agent's ``AgentVersion/current``.
    public var version: String
    /// When the agent was made.
    public var startedAt: String
    /// When this was written.
    public var now: String
    /// The active identity's pseudonym, `did:hash:…`; `nil` when signed out.
    public var identity: String?
    /// By the poll's name. Empty while the database cannot be read.
    public var polls: [String: Poll] = [:]
    /// By the digest's name; those of the configuration. Empty while the database cannot be read.
    public var digests: [String: Digest] = [:]
    /// Zeros while the database cannot be read.
    public var outbox = Outbox()
    public var clock = Clock()
    public var server = Server()

    enum CodingKeys: String, CodingKey {
        case status, reasons, version
        case startedAt = "started_at"
        case now, identity, polls, digests, outbox, clock, server
    }

    public init(version: String, startedAt: Timestamp, now: Timestamp) {
        self.version = version
        self.startedAt = startedAt.iso8601
        self.now = now.iso8601
    }
}
