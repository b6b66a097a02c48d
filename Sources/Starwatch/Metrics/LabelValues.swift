package import StarwatchCore
import StarwatchTelemetry

// The enumerations that label metrics. Their cases are the label's values; there is no other way to make one.
extension Endpoint: MetricLabel {}
extension RequestResult: MetricLabel {}
extension RequestPhase: MetricLabel {}
extension RetryReason: MetricLabel {}
extension PollOutcome: MetricLabel {}
extension SkipReason: MetricLabel {}
extension ScheduleOutcome: MetricLabel {}
extension ContractViolation: MetricLabel {}
extension OutboxChange: MetricLabel {}
extension NotificationGroup: MetricLabel {}
extension CircuitState: MetricLabel {}
extension ClockSource: MetricLabel {}
extension ClockSampleResult: MetricLabel {}
extension ClockJump: MetricLabel {}
extension ThrottleSource: MetricLabel {}

/// The states of ``OutboxState`` that have a gauge: what is still of interest.
package enum GaugedOutboxState: String, MetricLabel {
    case pending, claimed, delivered, dead
}

/// How a delivery attempt ended.
package enum SinkAttemptResult: String, MetricLabel {
    case ok, rejected, unavailable, timeout
}

/// What became of acknowledged identifiers.
package enum AcknowledgementResult: String, MetricLabel {
    case ok
    /// The server knew them already.
    case already
    case retried
    case failed
    /// Acknowledged without a server.
    case local
}

/// How the making of a token ended.
package enum TokenRefreshResult: String, MetricLabel {
    case ok, failed
}

/// The books that must balance.
package enum LedgerLaw: String, MetricLabel {
    /// fetched = new + duplicate + rejected
    case fetched
    /// new = delivered + dead + cancelled + suppressed + pending
    case new
}

/// The files whose size is watched.
package enum StoreFile: String, MetricLabel {
    case database, wal
    case freeDisk = "free_disk"
}

/// What a scrape was answered.
package enum ScrapeCode: String, MetricLabel {
    case ok = "200"
    case unavailable = "503"
}

/// How a control request ended.
package enum ControlResult: String, MetricLabel {
    case ok, failed
}

/// What the control API can be asked.
package enum ControlOperation: String, MetricLabel {
    case pollRun = "poll_run"
    case outboxList = "outbox_list"
    case outboxShow = "outbox_show"
    case outboxRetry = "outbox_retry"
    case outboxDiscard = "outbox_discard"
    case identityShow = "identity_show"
    case identitySet = "identity_set"
    case identityRemove = "identity_remove"
    case starsList = "stars_list"
    case starsChange = "stars_change"
    case notificationsList = "notifications_list"
    case notificationsFollow = "notifications_follow"
    case digestsList = "digests_list"
    case digestsFetch = "digests_fetch"
    case digestsShow = "digests_show"
    case notificationsSent = "notifications_sent"
    case notificationsShow = "notifications_show"
    case notificationsAct = "notifications_act"
    case shortlinkShow = "shortlink_show"
    case reload
}
