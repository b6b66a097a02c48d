public import StarwatchCore

/// The agent's status: `starwatch status --json` and `GET /api/v1/status`. Contains no personal data.
///
/// Times are RFC 3339 in UTC with milliseconds, such as `2026-01-01T12:00:00.000Z`, by the local clock unless they say
/// otherwise. `nil` is left out of the JSON.
public struct AgentStatus: Sendable, Codable, Hashable {
    /// `healthy` or `degraded`.
    public enum Health: String, Sendable, Codable, CaseIterable {
        case healthy
        case degraded
    }

    /// The status of a poll.
    public struct Poll: Sendable, Codable, Hashable {
        /// The kind of changes that the poll asks for.
        public var kind: PollKind
        /// Whether the last success, or the agent's start if there is none, and the last opt-in are older than
        /// ``staleAfterSeconds``. `false` when signed out, opted out, or without stars for a poll of starred projects.
        public var stale: Bool
        /// Time of the last cycle that reached the server; `nil` if there is none, or when signed out.
        public var lastAttempt: TimeText?
        /// Time of the last complete cycle; `nil` if there is none, or when signed out.
        public var lastSuccess: TimeText?
        /// Result of ``lastAttempt``: `changed`, `unchanged`, `bootstrapped`, `deferred`, `failed` or `cancelled`.
        public var lastOutcome: String?
        /// Time of the last cycle that found new changes; `nil` if none is known.
        public var lastNew: TimeText?
        /// The server's time up to which the poll has seen every change; `nil` if it is unknown.
        public var seenUntil: TimeText?
        /// Time of the next run: by the schedule, or later while the circuit, a wait or a missing endpoint keeps requests
        /// back. `nil` before the first check of the schedule.
        public var nextRun: TimeText?
        /// The limit for the age of the last success.
        public var staleAfterSeconds: Double
        /// The server's time up to which all changes are finished; `nil` without a watermark.
        public var watermarkTime: TimeText?
        /// The server's time up to which all changes are fetched; `nil` if none is.
        public var fetchCursorTime: TimeText?
        /// The reason why the latest run was skipped; `nil` if it was not, or without a run since the start.
        public var skipReason: SkipReason?
        /// The reason why the last cycle failed, was deferred or got no token, such as `http_403`; `nil` if it succeeded.
        public var lastReason: String?
        /// The same as one sentence with advice.
        public var lastError: String?
        /// Whether the poll fails until a person changes the token, its scope or the configuration. It still follows its
        /// schedule.
        public var needsAction = false
        /// Start of the failures: the first one since the last success; `nil` if the last cycle did not fail.
        public var failingSince: TimeText?
        /// The time since which runs are skipped for ``skipReason``; `nil` without one.
        public var skippedSince: TimeText?
        /// The number of the account's own projects that the last cycle asked for; `nil` for a poll of other projects, or
        /// without a cycle since the start.
        public var ownProjects: Int?
        /// `true` if the account has more projects than `limits.max_own_plans`; `nil` otherwise.
        public var projectsLeftOut: Bool?

        enum CodingKeys: String, SnakeKey {
            case kind, stale, lastAttempt, lastSuccess, lastOutcome, lastNew, seenUntil, nextRun, staleAfterSeconds,
                watermarkTime
            case fetchCursorTime, skipReason, lastReason, lastError, needsAction, failingSince, skippedSince,
                ownProjects, projectsLeftOut
        }

        /// The projects that the poll leaves out, as a sentence; `nil` if it leaves out none.
        package var leavesOut: String? {
            projectsLeftOut == true ? ownProjects.map(OwnClaims.sentence(asked:)) : nil
        }

        /// The time between the server's present and what the poll has seen of it; `nil` if it is unknown.
        package func secondsBehind(_ status: AgentStatus) -> Double? {
            let server = status.clock.serverTime.flatMap { Timestamp(iso8601: $0) }
            guard let seen = seenUntil.flatMap({ Timestamp(iso8601: $0) }), let server else { return nil }
            return max(0, (server - seen).inSeconds)
        }

        public init(kind: PollKind, stale: Bool, staleAfterSeconds: Double) {
            (self.kind, self.stale, self.staleAfterSeconds) = (kind, stale, staleAfterSeconds)
        }
    }

    /// The status of a digest.
    public struct Digest: Sendable, Codable, Hashable {
        /// Time of the next digest; `nil` when signed out.
        public var nextRun: TimeText?
        /// Time zone of the digest, as an IANA name.
        public var timezone: String
        /// The digest's last time within two days; `nil` if there is none, when signed out, and with many accounts.
        public var lastRun: TimeText?
        /// Result at ``lastRun``; `nil` without one.
        public var lastStatus: SlotStatus?
        /// The reason why it was not shown; `nil` if it was.
        public var lastErrorCode: SlotCode?

        enum CodingKeys: String, SnakeKey { case nextRun, timezone, lastRun, lastStatus, lastErrorCode }

        public init(timezone: String) { self.timezone = timezone }
    }

    /// The status of the outbox.
    public struct Outbox: Sendable, Codable, Hashable {
        /// Rows that wait for delivery.
        public var pending = 0
        /// Rows that are being delivered.
        public var claimed = 0
        /// Delivered rows that are not yet acknowledged.
        public var delivered = 0
        /// Rows that a required sink rejected for good or was given up for.
        public var dead = 0
        /// Invalid items of the server that were rejected alone.
        public var quarantined = 0
        /// Notifications that a sink with `required: false` rejected for good or was given up for. Their rows are
        /// delivered.
        public var givenUp = 0
        /// The limit for pending and claimed rows.
        public var capacity = 0
        /// Whether polling pauses because the outbox is nearly full.
        public var backpressure = false
        /// Time at which the oldest pending or claimed row was stored; `nil` if there is none.
        public var oldestPending: TimeText?
        /// Time since which the oldest deliverable row has been due; `nil` if there is none.
        public var oldestDue: TimeText?
        /// Rows that the counters cannot account for; must be 0.
        public var ledgerImbalance = 0
        /// The state by sink name: `closed`, `half_open`, `open`, `disabled`, or `rejecting` for a sink that answers but
        /// rejects everything.
        public var sinks: [String: String] = [:]
        /// The reason, such as `http_404`, by name of the sinks whose last attempt failed.
        public var sinkReasons: [String: String] = [:]
        /// Time of the last success by sink name; a sink without one since the start is missing, `nil` from an older agent.
        public var sinkLastSuccess: [String: TimeText]? = [:]
        /// The notifications of claimed rows that wait for a sink, by name of the sink; `nil` from an older agent.
        public var waiting: [String: Waiting]? = [:]
        /// The changes of the last 24 hours; `nil` from an older agent.
        public var lastDay: LastDay? = LastDay()

        enum CodingKeys: String, SnakeKey {
            case pending, claimed, delivered, dead, quarantined, givenUp, capacity, backpressure, oldestPending
            case oldestDue, ledgerImbalance, sinks, sinkReasons, sinkLastSuccess, waiting, lastDay
        }

        public init() {}
    }

    /// The notifications that wait for one sink.
    public struct Waiting: Sendable, Codable, Hashable {
        /// The number of notifications. Each announces one or more rows.
        public var notifications: Int
        /// The number of their changes; `nil` from an older agent.
        public var changes: Int?
        /// The number of changes among them that the sink holds by its `quiet_hours` or `deliver_at`; `nil` for none.
        public var held: Int?
        /// The moment when the sink opens for them.
        public var heldUntil: TimeText?
        /// Time since which the oldest one is due.
        public var since: TimeText
        /// Time of the next attempt, at the latest; of an attempt in progress, the end of its lease.
        public var nextAttempt: TimeText

        enum CodingKeys: String, SnakeKey { case notifications, changes, held, heldUntil, since, nextAttempt }

        public init(notifications: Int, since: String, nextAttempt: String) {
            (self.notifications, self.since, self.nextAttempt) = (notifications, since, nextAttempt)
        }
    }

    /// The numbers of changes in the last 24 hours, of all accounts. They include rows that are deleted by now.
    public struct LastDay: Sendable, Codable, Hashable {
        /// Changes that were stored, including those of a first run.
        public var stored = 0
        /// Changes that were delivered.
        public var delivered = 0
        /// Changes that were acknowledged.
        public var acknowledged = 0
        /// Changes that became dead letters.
        public var failed = 0

        public init() {}
    }

    /// `degraded` when there are ``reasons``.
    public var status = Health.healthy
    /// The reasons why it is degraded, from a fixed set of words, some with the name of a poll, sink or port after a colon.
    public var reasons: [String] = []
    /// The same with all that is known of them, the gravest first; `nil` from an older agent.
    public var problems: [Problem]? = []
    /// The gravest problem in one line, such as `Polling stopped: sink hook down for 13 min, outbox 80 % full`; `nil` when
    /// healthy. Meant for people: its words can change.
    public var headline: String?
    /// Unusual facts that are no problem, in one line: quiet hours for which changes and the watermark wait, and polls that find
    /// nothing for unusually long; `nil` without. Its words can change.
    public var notice: String?
    /// The agent's version.
    public var version: String
    /// The number of the agent's process, in its own namespace; `nil` from an older agent.
    public var pid: Int?
    /// Start time of the agent.
    public var startedAt: TimeText
    /// Time of this status.
    public var now: TimeText
    /// The active identity's pseudonym, `did:hash:…`; `nil` when signed out.
    public var identity: String?
    /// The polls by name. Empty while the database cannot be read.
    public var polls: [String: Poll] = [:]
    /// The configured digests by name. Empty while the database cannot be read.
    public var digests: [String: Digest] = [:]
    /// Zeros while the database cannot be read.
    public var outbox = Outbox()
    public var clock = Clock()
    public var server = Server()
    /// `nil` from an older agent, and while the database cannot be read.
    public var storage: Storage?
    /// `nil` from an older agent, and if it cannot be measured.
    public var disk: Disk?
    /// `nil` from an older agent, and if it cannot be measured.
    public var memory: Memory?
    /// `nil` from an older agent, and without canaries.
    public var canary: Canary?
    /// `nil` from an older agent.
    public var timeZones: TimeZones?
    /// The times when certificates expire, by `server`, `port:http`, `port:control` or the name of a sink; one that is not known
    /// is missing. `nil` from an older agent.
    public var certificates: [String: TimeText]?
    /// `nil` for an agent that works for the active identity.
    public var accounts: Accounts?
    /// Time of the last scrape by Prometheus or a compatible scraper, a request for `/metrics` with
    /// `X-Prometheus-Scrape-Timeout-Seconds`; `nil` without one since the start.
    public var lastScrape: TimeText?
    /// The ends of the agent that nobody asked for; `nil` from an older agent.
    public var restarts: Restarts?
    /// The summary of the poll `starred_projects`.
    public var pollingMetrics = PollingMetrics()

    enum CodingKeys: String, SnakeKey {
        case status, reasons, problems, headline, notice, version, pid, startedAt, now, identity, polls, digests,
            outbox,
            clock, server
        case storage, disk, memory, canary, certificates, timeZones, accounts, lastScrape, restarts, pollingMetrics
    }

    /// Takes what is wrong; a status without problems is healthy.
    package mutating func take(_ problems: [StarwatchCore.Problem], headline: String?) {
        self.problems = problems.map(Problem.init)
        reasons = problems.map(\.word).sorted()
        self.headline = headline
        status = problems.isEmpty ? .healthy : .degraded
    }

    /// Whether a problem of that kind is there, of any subject or of this one.
    package func has(_ kind: StarwatchCore.Problem.Kind, of subject: String? = nil) -> Bool {
        reasons.contains(kind.rawValue + (subject.map { ":\($0)" } ?? ""))
    }

    /// Whether the database cannot be read, so that what it knows is missing.
    package var lacksStore: Bool { StarwatchCore.Problem.Kind.allCases.contains { $0.isOfStore && has($0) } }

    public init(version: String, startedAt: Timestamp, now: Timestamp) {
        self.version = version
        self.startedAt = startedAt.iso8601
        self.now = now.iso8601
    }
}

/// A summary of the poll `starred_projects`, with the names of the first version.
///
/// Counts are those of the `starred_projects_*` metrics: since the start of the process, and zero without that poll.
public struct PollingMetrics: Sendable, Codable, Hashable {
    /// Cycles that reached the server.
    public var pollsTotal = 0
    /// Such cycles that succeeded.
    public var pollsSuccessful = 0
    /// Such cycles that failed.
    public var pollsFailed = 0
    /// Changes that were new to the outbox.
    public var changesFound = 0
    /// Notifications made of these changes.
    public var notificationsGenerated = 0
    /// Responses that rate-limited a request.
    public var throttlesHit = 0
    /// Mean duration of a request in seconds; 0 without requests.
    public var averageResponseTime = 0.0
    /// Time of the last cycle that reached the server; `nil` if there is none.
    public var lastPollTimestamp: TimeText?

    public init() {}
}
