public import StarwatchCore

/// What the agent says of itself: `starwatch status --json` and `GET /api/v1/status`. Holds no personal data.
public struct AgentStatus: Sendable, Codable, Hashable {
    /// `healthy` or `degraded`.
    public enum Health: String, Sendable, Codable {
        case healthy
        case degraded
    }

    /// One poll.
    public struct Poll: Sendable, Codable, Hashable {
        public var kind: PollKind
        public var stale: Bool
        public var lastAttempt: String?
        public var lastSuccess: String?
        public var lastOutcome: String?
        public var nextRun: String?
        public var staleAfterSeconds: Double
        public var watermarkTime: String?
        public var fetchCursorTime: String?
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

    /// The outbox.
    public struct Outbox: Sendable, Codable, Hashable {
        public var pending = 0
        public var claimed = 0
        public var delivered = 0
        public var dead = 0
        public var capacity = 0
        public var backpressure = false
        public var oldestPending: String?
        public var oldestDue: String?
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
        public var uncertaintySeconds: Double?
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
        public var circuit = "closed"
        /// No request before this time.
        public var throttledUntil: String?

        enum CodingKeys: String, CodingKey {
            case dialect, circuit
            case throttledUntil = "throttled_until"
        }

        public init() {}
    }

    public var status = Health.healthy
    /// Why it is degraded, from a fixed set of words, with the poll's or sink's name after a colon.
    public var reasons: [String] = []
    public var version: String
    public var startedAt: String
    public var now: String
    /// The active identity's pseudonym, `did:hash:…`; `nil` when signed out.
    public var identity: String?
    public var polls: [String: Poll] = [:]
    public var outbox = Outbox()
    public var clock = Clock()
    public var server = Server()

    enum CodingKeys: String, CodingKey {
        case status, reasons, version
        case startedAt = "started_at"
        case now, identity, polls, outbox, clock, server
    }

    public init(version: String, startedAt: Timestamp, now: Timestamp) {
        self.version = version
        self.startedAt = startedAt.iso8601
        self.now = now.iso8601
    }
}
