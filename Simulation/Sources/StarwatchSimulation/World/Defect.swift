/// Planted bug that a simulation must find.
package enum Defect: String, Sendable, CaseIterable {
    case none
    /// The server omits some of its changes.
    case loseItems = "lose_items"
    /// Every attempt of a notification has another id.
    case renameNotifications = "rename_notifications"
    /// The agent does not see the wait that the server requires.
    case hideRetryAfter = "hide_retry_after"
    /// The agent is configured with three times the server's limit.
    case tripleLimit = "triple_limit"
    /// A sink does not get the identifiers after the first 20 of a notification.
    case cutNotifications = "cut_notifications"
    /// The server's responses tell the time of a clock that is no longer ahead.
    case keepLead = "keep_lead"
    /// An agent does not see that another process has taken its accounts over.
    case hideTakeover = "hide_takeover"
    /// A write is not refused after another process has taken the account over.
    case dropFence = "drop_fence"
    /// A process does not know how long it was stopped, and so not that its leases have ended.
    case ignoreLease = "ignore_lease"
}
