public import StarwatchCore

/// Status of the agent: `starwatch status --json` and `GET /api/v1/status`. It has no personal data.
///
/// Times are RFC 3339 in UTC with milliseconds, such as `2026-01-01T12:00:00.000Z`. The JSON omits `nil` values.
public struct AgentStatus: Sendable, Codable, Hashable {
    /// `healthy` or `degraded`.
    public enum Health: String, Sendable, Codable, CaseIterable {
        case healthy
        case degraded
    }

    /// One poll.
    public struct Poll: Sendable, Codable, Hashable {
        /// The changes that the poll requests.
        public var kind: PollKind
        /// `true` if the last success, or else the agent's start, is older than ``staleAfterSeconds``, and the poll was
        /// switched on longer ago than that. `false` if signed out or opted out, and for polls of stars without stars.
        public var stale: Bool
        /// The time at which a cycle last reached the server; `nil` if none did, or when signed out.
        public var lastAttempt: String?
        /// The time at which a cycle last fetched all changes; `nil` as above.
        public var lastSuccess: String?
        /// `changed`, `unchanged`, `bootstrapped`, `deferred` or `failed`; `nil` as above.
        public var lastOutcome: String?
        /// The next scheduled time; `nil` before the first check of the schedule.
        public var nextRun: String?
        /// The maximum age of the last success.
        public var staleAfterSeconds: Double
        /// The server's time up to which every change is finished; `nil` if there is no watermark yet.
        public var watermarkTime: String?
        /// The server's time up to which every change was fetched; `nil` if none was.
        public var fetchCursorTime: String?
        /// The reason why the latest cycle was skipped; `nil` if it was not, or if none ran since the start.
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
        /// The next scheduled time; `nil` when signed out.
        public var nextRun: String?
        /// The IANA zone of its times.
        public var timezone: String
        /// The latest scheduled time in the last two days; `nil` if there was none, or when signed out.
        public var lastRun: String?
        /// The status of that occurrence; `nil` as above.
        public var lastStatus: SlotStatus?
        /// The reason why it was not shown; `nil` if it was.
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
        /// Rows that wait for delivery.
        public var pending = 0
        /// Rows in delivery.
        public var claimed = 0
        /// Delivered rows that are not yet acknowledged.
        public var delivered = 0
        /// Dead letters.
        public var dead = 0
        /// The maximum number of rows that are pending or claimed.
        public var capacity = 0
        /// `true` while polling pauses because the outbox is nearly full.
        public var backpressure = false
        /// The time at which the oldest pending or claimed row was stored; `nil` if there is none.
        public var oldestPending: String?
        /// The time at which the oldest deliverable row became due; `nil` if there is none.
        public var oldestDue: String?
        /// The imbalance of the outbox counters; must be 0.
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
        /// The clock skew, positive if the server is ahead. `nil` before the first sample.
        public var skewSeconds: Double?
        /// The uncertainty of the skew, in either direction; `nil` before the first sample.
        public var uncertaintySeconds: Double?
        /// The time at which the server's clock was last read; `nil` before the first sample.
        public var lastSync: String?

        enum CodingKeys: String, CodingKey {
            case skewSeconds = "skew_seconds"
            case uncertaintySeconds = "uncertainty_seconds"
            case lastSync = "last_sync"
        }

        public init() {}
    }

    /// The connection to the server.
    public struct Server: Sendable, Codable, Hashable {
        /// The server's dialect; `nil` until the first response if it is detected.
        public var dialect: Dialect?
        /// `closed` (working), `half_open` or `open`.
        public var circuit = "closed"
        /// The time before which no request is sent; `nil` if requests are allowed.
        public var throttledUntil: String?

        enum CodingKeys: String, CodingKey {
            case dialect, circuit
            case throttledUntil = "throttled_until"
        }

        public init() {}
    }

    /// `degraded` if there are ``reasons``.
    public var status = Health.healthy
    /// Reasons for the degradation, from a fixed set of words, followed by a colon and the poll's or sink's name.
    public var reasons: [String] = []
    /// The agent's ``AgentVersion/current``.
    public var version: String
    /// The time at which the agent was created.
    public var startedAt: String
    /// The time of this status.
    public var now: String
    /// The active identity's pseudonym, `did:hash:…`; `nil` when signed out.
    public var identity: String?
    /// Polls by name. Empty while the database cannot be read.
    public var polls: [String: Poll] = [:]
    /// Configured digests by name. Empty while the database cannot be read.
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
