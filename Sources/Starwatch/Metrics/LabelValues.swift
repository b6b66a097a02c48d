package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry

// Enumerations that label metrics. Their cases are the only values of the label.
extension Endpoint: MetricLabel {}
extension RequestResult: MetricLabel {}
extension ServedPort: MetricLabel {}
extension FailureLabel: MetricLabel {}
extension RequestPhase: MetricLabel {}
extension RetryReason: MetricLabel {}
extension PollOutcome: MetricLabel {}
extension SkipReason: MetricLabel {}
extension ScheduleOutcome: MetricLabel {}
extension ContractViolation: MetricLabel {}
extension OutboxChange: MetricLabel {}
extension OutboxState: MetricLabel {}
extension NotificationGroup: MetricLabel {}
extension CircuitState: MetricLabel {}
extension ClockSource: MetricLabel {}
extension ClockSampleResult: MetricLabel {}
extension ClockJump: MetricLabel {}
extension ThrottleSource: MetricLabel {}
extension CallbackKind: MetricLabel {}
extension SlotStatus: MetricLabel {}

/// Result of a delivery attempt.
package enum SinkAttemptResult: String, MetricLabel {
    case ok, rejected, unavailable, timeout
    /// The sink was down for longer than its `give_up_after`, and no further attempt is made.
    case givenUp = "given_up"
}

/// Result of acknowledging a change.
package enum AcknowledgementResult: String, MetricLabel {
    case ok
    /// The server had the acknowledgement already.
    case already
    case retried
    case failed
    /// Acknowledged only in the local database.
    case local
}

/// Result of creating a token, and of a control request.
package enum WorkResult: String, MetricLabel {
    case ok, failed
}

/// Equations between the outbox counters that must hold.
package enum LedgerLaw: String, MetricLabel {
    /// fetched = new + duplicate + rejected
    case fetched
    /// new = delivered + dead + cancelled + suppressed + pending
    case new
}

package enum LedgerEntry: String, MetricLabel {
    case fetched, new, duplicate, rejected
    case delivered, dead, cancelled, suppressed
    case evicted, acknowledged

    /// The entry's count in a ledger.
    func count(in ledger: Ledger) -> Int {
        switch self {
        case .fetched: ledger.fetched
        case .new: ledger.new
        case .duplicate: ledger.duplicate
        case .rejected: ledger.rejected
        case .delivered: ledger.delivered
        case .dead: ledger.dead
        case .cancelled: ledger.cancelled
        case .suppressed: ledger.suppressed
        case .evicted: ledger.evicted
        case .acknowledged: ledger.acknowledged
        }
    }
}

/// Files with a size metric, and the free disk space.
package enum StoreFile: String, MetricLabel {
    case database, wal
    case freeDisk = "free_disk"
}

/// Status code of a response to a scrape.
package enum ScrapeCode: String, MetricLabel {
    case ok = "200"
    case unavailable = "503"
}

/// Reasons for which a port does not let a request in.
package enum ControlRefusal: String, MetricLabel {
    /// `Host` is none of the agent's names.
    case host
    /// The request came from a page of another origin.
    case origin
    /// The token is missing or wrong.
    case token
    /// The token was that of a former address of the feed.
    case formerToken = "former_token"
    /// The user's name or password is missing or wrong.
    case password
    /// The address was refused too often.
    case rate
}

/// Operations of the control API.
package enum ControlOperation: String, MetricLabel {
    /// Any operation that changes nothing, and ends.
    case read
    case pollRun = "poll_run"
    case outboxRetry = "outbox_retry"
    case outboxDiscard = "outbox_discard"
    case quarantineDiscard = "quarantine_discard"
    case identitySet = "identity_set"
    case identityKinds = "identity_kinds"
    case identityRemove = "identity_remove"
    case identityErase = "identity_erase"
    case starsChange = "stars_change"
    /// A new or replaced token in the address of a feed.
    case feedToken = "feed_token"
    case notificationsFollow = "notifications_follow"
    case notificationsAct = "notifications_act"
    case digestsFetch = "digests_fetch"
    case digestsShow = "digests_show"
    case sinkTest = "sink_test"
    case sinkClearWait = "sink_clear_wait"
    case serverClearWait = "server_clear_wait"
    /// Any change of the accounts of a process that serves many.
    case accountsChange = "accounts_change"
    /// Any change of keys.
    case keysRotate = "keys_rotate"
    case reload
}

extension ControlOperation {
    /// The advice of a process for many accounts to a request that needs one and names none.
    static let problemWithoutAccount = "This agent works for many accounts; name one with --account."

    /// The advice of a process for many accounts, if the operation changes one account and the request names none; `nil` if it
    /// can do without.
    func problemOfMany(namesAccount: Bool) -> String? {
        switch self {
        case .identitySet, .identityRemove, .identityErase:
            "This agent works for many accounts; add, remove or erase them with starwatch accounts."
        case .pollRun, .outboxRetry, .outboxDiscard, .quarantineDiscard, .identityKinds, .starsChange, .feedToken,
            .notificationsFollow, .notificationsAct, .digestsFetch, .digestsShow:
            namesAccount ? nil : Self.problemWithoutAccount
        default: nil
        }
    }
}

/// Group of database transactions that share a histogram. One for each ``StoreOperation`` would be 190 series.
package enum TransactionGroup: String, MetricLabel {
    case read, write

    package init(_ operation: StoreOperation) {
        self =
            switch operation {
            case .pollState, .read, .snapshot: .read
            case .open, .commit, .bootstrap, .finishCycle, .identity, .server, .stars, .claim, .delivery, .acknowledge,
                .watermark, .evict, .edit, .digest, .log, .retention, .checkpoint, .lease:
                .write
            }
    }
}

/// Outcome of a digest's fetch; the label of ``DigestMetrics/prefetches``.
package enum DigestPrefetchOutcome: String, MetricLabel, Codable {
    case fetched
    case notModified = "not_modified"
    case timeout
    /// The connection failed or broke, or the host's fetcher threw.
    case unreachable
    /// The response had a status other than 200 or 304, or a 304 without content to confirm; or the server's rate limit
    /// lasted until it was too late.
    case refused
    /// The response is not a JSON object, or is too long.
    case malformed
    /// The token's file is unusable.
    case noToken = "no_token"
    /// The identity changed, or the agent was stopped.
    case cancelled
}

/// Result of queueing or sending a callback event.
package enum CallbackOutcome: String, MetricLabel {
    case queued, sent
    /// The receiver rejected the event, and the agent retries it.
    case refused
    /// The receiver was unreachable, and the agent retries the event.
    case unavailable
}
