package import StarwatchCore

/// What the HTTP servers may ask of a running agent. The read-only server uses the first part only.
package protocol AgentControl: NotificationControl {
    /// The bytes of `/metrics`: see ``MetricsAnswer``.
    func metrics(_ request: MetricsQuery) async -> MetricsAnswer
    func status() async -> AgentStatus
    /// Why the agent is not ready: `starting`, `draining`, `store_unavailable`, `signed_out`; empty when it is.
    func notReady() async -> [String]
    /// Whether local work progresses: the schedules are looked at, and the store answers.
    func isHealthy() async -> Bool

    // State-changing: on the control socket only.

    /// Runs one cycle, with delivery and acknowledgement.
    ///
    /// - Parameter unlessWithin: Skipped as `recent` if the poll had a success so lately; `nil` for a cycle in any case.
    func runPoll(_ name: String, unlessWithin: Duration?) async throws(ControlError) -> PollReport
    /// The newest rows first.
    func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry]
    /// A row and what every sink said about it.
    func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry
    /// Tries dead rows again: all of these, or none where one is not dead or not there.
    func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int
    /// Tries all dead rows again; `nil` means those of every poll.
    func outboxRetryAll(poll: String?) async throws(ControlError) -> Int
    /// Gives dead rows up: all of these, or none where one is not dead or not there.
    func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int
    /// Gives all dead rows up; `nil` means those of every poll.
    func outboxDiscardAll(poll: String?) async throws(ControlError) -> Int
    func identity() async throws(ControlError) -> IdentityReport
    /// `nil` signs out.
    func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport
    /// Deletes an account that is not active, after 30 days in which it can come back.
    func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport
    func stars() async throws(ControlError) -> [String]
    func changeStars(_ change: StarsChange) async throws(ControlError) -> [String]
    /// What the active identity had starred before it was changed, newest first.
    func archivedStars() async throws(ControlError) -> [ArchivedStarsReport]
    /// The configured digests, with what comes and what came.
    func digests() async throws(ControlError) -> [DigestReport]
    /// Fetches a digest's content, whatever its times.
    func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport
    /// Shows what there is of a digest, whatever its times.
    func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport
    func reload() async throws(ControlError)
    /// What the sink of kind `feed` keeps, the newest first.
    func feed(_ query: FeedQuery) async throws(ControlError) -> [FeedEntry]
    /// What comes to the feed from now on, or after `sequence`.
    func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader
}

extension AgentControl {
    /// One cycle in any case.
    package func runPoll(_ name: String) async throws(ControlError) -> PollReport {
        try await runPoll(name, unlessWithin: nil)
    }
}

/// What a scrape asked for.
package struct MetricsQuery: Sendable {
    package var accept: String?
    /// Families or samples to keep; empty means all.
    package var names: [String] = []
    /// From `X-Prometheus-Scrape-Timeout-Seconds`.
    package var scrapeTimeout: Duration?

    package init() {}
}

package struct MetricsAnswer: Sendable {
    /// 200, or 503 when too many scrapes are in flight or the time is up.
    package var status: Int
    package var contentType: String
    package var body: [UInt8]

    package init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

/// The outcome of a cycle run by hand.
package struct PollReport: Sendable, Codable, Hashable {
    package var poll: String
    /// `changed`, `unchanged`, `bootstrapped`, `deferred`, `failed`, or `skipped`.
    package var outcome: String
    /// Why it was skipped, deferred or failed; `nil` otherwise.
    package var reason: String?
    package var runID: String
    package var fetched = 0
    package var new = 0
    package var notifications = 0
    package var acknowledged = 0
    package var watermarkMoved = false

    enum CodingKeys: String, CodingKey {
        case poll, outcome, reason
        case runID = "run_id"
        case fetched, new, notifications, acknowledged
        case watermarkMoved = "watermark_moved"
    }

    package init(poll: String, outcome: String, runID: String) {
        self.poll = poll
        self.outcome = outcome
        self.runID = runID
    }
}

/// Which rows of the outbox to list, the newest first. What is `nil` does not restrict.
package struct OutboxQuery: Sendable, Hashable {
    package var state: String?
    package var poll: String?
    /// Rows with smaller ids only: the last id of the page before.
    package var before: Int64?
    /// From 1 to ``OutboxEntry/listLimit``.
    package var limit = OutboxEntry.listLimit

    package init() {}
}

/// A row of the outbox, as its operator sees it. Given only over the control socket.
package struct OutboxEntry: Sendable, Codable, Hashable {
    /// The most rows that one list holds.
    package static let listLimit = 1000

    package var id: Int64
    package var poll: String
    package var state: OutboxState
    package var jwtID: String
    package var plan: String
    package var name: String?
    package var attempts: Int
    package var createdAt: String
    package var notificationID: String?
    /// What every sink said about it; `nil` in lists.
    package var deliveries: [Delivery]?

    /// What one sink said.
    package struct Delivery: Sendable, Codable, Hashable {
        package var sink: String
        /// `pending`, `ok`, `rejected`, `gone` or `cancelled`.
        package var state: String
        package var attempts: Int
        /// How many of the attempts the sink refused.
        package var rejections: Int
        /// When it is tried next; `nil` when it is not.
        package var nextAttemptAt: String?
        package var updatedAt: String

        enum CodingKeys: String, CodingKey {
            case sink, state, attempts, rejections
            case nextAttemptAt = "next_attempt_at"
            case updatedAt = "updated_at"
        }

        package init(
            sink: String,
            state: String,
            attempts: Int,
            rejections: Int,
            nextAttemptAt: String?,
            updatedAt: String
        ) {
            self.sink = sink
            self.state = state
            self.attempts = attempts
            self.rejections = rejections
            self.nextAttemptAt = nextAttemptAt
            self.updatedAt = updatedAt
        }
    }

    enum CodingKeys: String, CodingKey {
        case id, poll, state
        case jwtID = "jwt_id"
        case plan, name, attempts
        case createdAt = "created_at"
        case notificationID = "notification_id"
        case deliveries
    }

    package init(
        id: Int64,
        poll: String,
        state: OutboxState,
        jwtID: String,
        plan: String,
        name: String?,
        attempts: Int,
        createdAt: String,
        notificationID: String?
    ) {
        self.id = id
        self.poll = poll
        self.state = state
        self.jwtID = jwtID
        self.plan = plan
        self.name = name
        self.attempts = attempts
        self.createdAt = createdAt
        self.notificationID = notificationID
    }
}

package struct IdentityReport: Sendable, Codable, Hashable {
    /// `nil` when signed out. Given only over the control socket.
    package var did: String?
    package var generation: Int
    /// The pseudonym logs use.
    package var pseudonym: String?

    package init(did: String?, generation: Int, pseudonym: String?) {
        self.did = did
        self.generation = generation
        self.pseudonym = pseudonym
    }
}

/// The answer to the removal of an identity.
package struct IdentityRemovalReport: Sendable, Codable, Hashable {
    /// Deletion time. Signing in before then restores the account.
    package var keptUntil: String

    enum CodingKeys: String, CodingKey { case keptUntil = "kept_until" }

    package init(keptUntil: String) { self.keptUntil = keptUntil }
}

/// A change of the active identity's starred plans.
package struct StarsChange: Sendable, Codable, Hashable {
    package enum Operation: String, Sendable, Codable, CaseIterable {
        case set, add, remove
        /// Adds what was last archived. The plan ids are not looked at.
        case restore
        /// Switches the polls of starred plans off. The plan ids are not looked at, and the stars stay.
        case optOut = "opt_out"
        /// Switches them on again.
        case optIn = "opt_in"
    }

    package var operation: Operation
    package var planIDs: [String]

    enum CodingKeys: String, CodingKey {
        case operation
        case planIDs = "plan_ids"
    }

    package init(operation: Operation, planIDs: [String]) {
        self.operation = operation
        self.planIDs = planIDs
    }
}

/// Stars of the active identity that a change of identity put away; kept for 30 days.
package struct ArchivedStarsReport: Sendable, Codable, Hashable {
    package var archivedAt: String
    package var planIDs: [String]

    enum CodingKeys: String, CodingKey {
        case archivedAt = "archived_at"
        case planIDs = "plan_ids"
    }

    package init(archivedAt: String, planIDs: [String]) {
        self.archivedAt = archivedAt
        self.planIDs = planIDs
    }
}

/// Why the agent did not do what it was asked. The message is one sentence that says what to do.
package struct ControlError: Error, Sendable, Codable, Hashable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        /// There is no such poll, row or sink.
        case notFound = "not_found"
        /// The request makes no sense.
        case invalid
        /// It does not fit the state: a row that is not dead, an agent that is signed out.
        case conflict
        /// As much as it can do of this is being done already.
        case busy
        case failed
    }

    package var kind: Kind
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
