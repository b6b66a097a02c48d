package import StarwatchCore

/// The verbs of the control API, answered by the agent itself or by a ``ControlClient`` of a running one.
package protocol AgentControl: Sendable {
    func status() async throws(ControlError) -> AgentStatus
    /// Runs one cycle with delivery and acknowledgement, whatever the schedule says.
    ///
    /// - Parameter unlessWithin: The poll is skipped as `recent` if its last success is younger; whole seconds. `nil`
    ///   never skips.
    func runPoll(_ name: String, unlessWithin: Duration?) async throws(ControlError) -> PollReport
    /// Asks the server for one page of a poll with the agent's own token, and stores and delivers nothing.
    func tryPoll(_ name: String) async throws(ControlError) -> PollReport
    /// The newest rows first.
    func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry]
    /// A row with the result of every sink.
    func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry
    /// Retries dead letters. If one of the rows does not exist or is no dead letter, none is retried.
    ///
    /// - Returns: The number of changed rows, as for the three below.
    func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int
    /// Retries all dead rows of a poll; `nil` means every poll.
    func outboxRetryAll(poll: String?) async throws(ControlError) -> Int
    /// Discards dead letters and claimed rows. If one of the rows does not exist or is neither, none is discarded.
    func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int
    /// Discards all dead letters or all claimed rows of a poll; `nil` means every poll.
    func outboxDiscardAll(poll: String?, in state: DiscardableState) async throws(ControlError) -> Int
    /// The invalid items of the server that were rejected alone (`quarantine_invalid`), newest first.
    func quarantineList(_ query: QuarantineQuery) async throws(ControlError) -> [QuarantineEntry]
    /// Hides invalid items. One stays hidden as long as the server sends it with the same faults. Ignores other ids.
    ///
    /// - Returns: The number of items, as for the next one.
    func quarantineDiscard(_ ids: [Int64]) async throws(ControlError) -> Int
    /// Hides all invalid items of a poll; `nil` means every poll.
    func quarantineDiscardAll(poll: String?) async throws(ControlError) -> Int
    func identity() async throws(ControlError) -> IdentityReport
    /// Changes the active identity; `nil` signs out.
    func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport
    /// Schedules the deletion of an account that is not active. Signing in within 30 days restores it.
    func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport
    /// Deletes everything of an account that is not active, now and for good.
    func eraseIdentity(_ did: DID) async throws(ControlError) -> IdentityErasureReport
    /// The keys of the database.
    func keys() async throws(ControlError) -> KeysReport
    /// Replaces the data keys. The values are then encrypted again in the background.
    func rotateDataKeys() async throws(ControlError) -> KeysReport
    /// Wraps the data keys with another master key.
    ///
    /// - Parameter text: The key in base64.
    func changeMasterKey(to text: String) async throws(ControlError) -> KeysReport
    /// Makes the key of a file the active one of the active identity.
    func importSigningKey(_ key: SigningKeyImport) async throws(ControlError) -> SigningKeyReport
    /// Makes a new shared secret the active one of the active identity.
    func rotateSigningKey(_ rotation: SigningKeyRotation) async throws(ControlError) -> SigningKeyReport
    /// Destroys the secret of a signing key at once.
    func revokeSigningKey(_ revocation: SigningKeyRevocation) async throws(ControlError) -> SigningKeyReport
    /// Opens every encrypted value.
    func verifyKeys() async throws(ControlError) -> KeyVerification
    /// The starred plans of the active identity, with their known names.
    func starsListing() async throws(ControlError) -> StarsListing
    /// Changes the stars and returns all of them.
    func changeStars(_ change: StarsChange) async throws(ControlError) -> [String]
    /// The active identity's stars before each change of identity, newest first.
    func archivedStars() async throws(ControlError) -> [ArchivedStarsReport]
    /// The configured digests, with past and future occurrences.
    func digests() async throws(ControlError) -> [DigestReport]
    /// Fetches a digest's content now. Takes 12 s at most.
    func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport
    /// Shows a digest's stored content now, after one attempt at every sink.
    func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport
    /// Sends a test notification to one sink, past its queue, circuit and counters.
    func testSink(_ name: String) async throws(ControlError) -> SinkTestReport
    /// Ends the wait that the server asked for.
    func clearServerWait() async throws(ControlError) -> ServerWaitReport
    func reload() async throws(ControlError)
    /// The notifications that the sink of kind `feed` keeps, newest first.
    func feed(_ query: NotificationQuery) async throws(ControlError) -> [FeedEntry]
    /// The active identity's notifications, newest first.
    func notificationList(_ query: NotificationQuery) async throws(ControlError) -> [NotificationEntry]
    func notificationShow(_ id: String) async throws(ControlError) -> NotificationEntry
    /// Performs the action that a person chose. Repeating it changes nothing.
    func notificationAct(_ id: String, _ action: NotificationAction) async throws(ControlError) -> ActionReport
    func shortlinkShow(_ shortlink: Shortlink) async throws(ControlError) -> ShortlinkReport
    /// The life of a change, a notification, an outbox row or a run.
    ///
    /// - Parameter id: A claim id, `chg_…`, the number of a row, `ntf_…` or `run_…`.
    func explain(_ id: String) async throws(ControlError) -> Story
    /// Lines of the stored log, in the order in which they were logged.
    func logs(_ query: LogQuery) async throws(ControlError) -> [LogLine]
}

extension AgentControl {
    package func stars() async throws(ControlError) -> [String] { try await starsListing().planIDs }

    /// Runs one cycle and never skips it as recent.
    package func runPoll(_ name: String) async throws(ControlError) -> PollReport {
        try await runPoll(name, unlessWithin: nil)
    }
}

/// The rows that an operator can discard.
package enum DiscardableState: String, Sendable, Codable, CaseIterable {
    /// Dead letters.
    case dead
    /// Rows that wait for a sink.
    case claimed
}

/// An agent that servers can serve: its verbs, and what only its own process can answer.
package protocol ServedAgent: AgentControl {
    /// The metrics page.
    func metrics(_ request: MetricsQuery) async -> MetricsAnswer
    /// The reasons why the agent is not ready: `starting`, `draining`, `store_unavailable`, `signed_out`; empty when it
    /// is.
    func notReady() async -> [String]
    /// The state of the check of the database's pages: `running`, `passed`, `damaged` or `ended`; `nil` if the database was
    /// closed in good order.
    var databaseCheck: String? { get }
    /// Returns whether local work progresses: the schedules are checked, and the store answers.
    func isHealthy() async -> Bool
    /// Counts and logs a request that a server refused.
    func noteRefusal(_ reason: ControlRefusal, at port: ServedPort)
    /// Shows the news of a port's web configuration in metrics and in the log.
    func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort)
    /// Follows the feed.
    ///
    /// - Parameter sequence: The sequence of the last notification before; `nil` for new ones only.
    func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader
}

/// The parameters of a scrape.
package struct MetricsQuery: Sendable {
    package var accept: String?
    /// Families or samples to keep; empty means all.
    package var names: [String] = []
    /// The value of `X-Prometheus-Scrape-Timeout-Seconds`.
    package var scrapeTimeout: Duration?

    package init() {}
}

/// The answer to a scrape.
package struct MetricsAnswer: Sendable {
    /// 200, or 503 when too many scrapes are in flight or the scrape timed out.
    package var status: Int
    package var contentType: String
    package var body: [UInt8]
}

/// The outcome of a cycle run by hand.
package struct PollReport: Sendable, Codable, Hashable {
    package var poll: String
    /// `changed`, `unchanged`, `bootstrapped`, `deferred`, `failed`, or `skipped`.
    package var outcome: String
    /// The reason why the cycle was skipped, deferred or failed; `nil` otherwise.
    package var reason: String?
    /// The reason as a `FailureReason`, if the server, the token or the database was it; `nil` otherwise.
    package var cause: String?
    package var runID: String
    package var fetched = 0
    package var new = 0
    package var notifications = 0
    package var acknowledged = 0
    package var watermarkMoved = false

    enum CodingKeys: String, CodingKey {
        case poll, outcome, reason, cause
        case runID = "run_id"
        case fetched, new, notifications, acknowledged
        case watermarkMoved = "watermark_moved"
    }
}

/// A selection of outbox rows, newest first. `nil` does not restrict.
package struct OutboxQuery: Sendable, Hashable {
    package var state: String?
    package var poll: String?
    /// The last id of the previous page; only rows with smaller ids are listed.
    package var before: Int64?
    /// The size of a page, from 1 to ``OutboxEntry/listLimit``.
    package var limit = OutboxEntry.listLimit

    package init() {}
}

/// A row of the outbox, as its operator sees it. Served only by the control API.
package struct OutboxEntry: Sendable, Codable, Hashable {
    /// The maximum number of rows in a list.
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
    /// The sinks that rejected it too often or were given up; `nil` if there are none.
    package var undeliveredTo: [String]?
    /// The reason why nobody gets it; `nil` if its state tells.
    package var reason: RowReason?
    /// The poll that announced the same claim; `nil` for another reason, or if that row is gone.
    package var announcedBy: String?
    /// The result of every sink; `nil` in lists.
    package var deliveries: [Delivery]?

    /// The result of one sink.
    package struct Delivery: Sendable, Codable, Hashable {
        package var sink: String
        /// `pending`, `ok`, `rejected`, `given_up`, `gone` or `cancelled`.
        package var state: String
        package var attempts: Int
        /// The number of attempts that the sink rejected.
        package var rejections: Int
        /// The time of the next attempt; `nil` if there is none.
        package var nextAttemptAt: String?
        package var updatedAt: String
        /// The reason for the last failed attempt, such as `http_404`; `nil` if the last attempt succeeded.
        package var reason: String?

        enum CodingKeys: String, CodingKey {
            case sink, state, attempts, rejections
            case nextAttemptAt = "next_attempt_at"
            case updatedAt = "updated_at"
            case reason
        }
    }

    enum CodingKeys: String, CodingKey {
        case id, poll, state
        case jwtID = "jwt_id"
        case plan, name, attempts
        case createdAt = "created_at"
        case notificationID = "notification_id"
        case undeliveredTo = "undelivered_to"
        case reason
        case announcedBy = "announced_by"
        case deliveries
    }
}

/// The active identity.
package struct IdentityReport: Sendable, Codable, Hashable {
    /// The DID; `nil` when signed out. Served only by the control API.
    package var did: String?
    package var generation: Int
    /// The identity's pseudonym in logs.
    package var pseudonym: String?
}

/// The answer to the removal of an identity.
package struct IdentityRemovalReport: Sendable, Codable, Hashable {
    /// Deletion time. Signing in before then restores the account.
    package var keptUntil: String

    enum CodingKeys: String, CodingKey { case keptUntil = "kept_until" }
}

/// The answer to the end of a server's wait.
package struct ServerWaitReport: Sendable, Codable, Hashable {
    /// The time until which the wait would have lasted; `nil` if there was none.
    package var waitedUntil: String?

    enum CodingKeys: String, CodingKey { case waitedUntil = "waited_until" }
}

/// A change of the active identity's starred plans.
package struct StarsChange: Sendable, Codable, Hashable {
    package enum Operation: String, Sendable, Codable, CaseIterable {
        case set, add, remove
        /// Adds the stars that were archived last. The plan ids are ignored.
        case restore
        /// Switches the polls of starred plans off. The plan ids are ignored, and the stars stay.
        case optOut = "opt_out"
        /// Switches the polls on again.
        case optIn = "opt_in"
    }

    /// The maximum number of an identity's starred plans, and of the plans in one change.
    package static let planLimit = 10_000

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

/// Stars of the active identity that a change of identity archived. They are kept for 30 days.
package struct ArchivedStarsReport: Sendable, Codable, Hashable {
    package var archivedAt: String
    package var planIDs: [String]

    enum CodingKeys: String, CodingKey {
        case archivedAt = "archived_at"
        case planIDs = "plan_ids"
    }
}
