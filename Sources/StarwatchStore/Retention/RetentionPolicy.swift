/// The retention periods, counted from the end of each row (R-STO-19).
package struct RetentionPolicy: Sendable, Hashable {
    /// Outbox rows in a final state.
    package var delivered: Duration = .days(7)
    package var dead: Duration = .days(30)
    /// Quarantined items that the server has not sent since.
    package var quarantine: Duration = .days(30)
    /// Notifications, the history of cycles, and suppressed rows without acknowledgement.
    package var history: Duration = .days(30)
    package var archivedStars: Duration = .days(30)
    /// Deliveries to sinks, and the slots of digests.
    package var deliveries: Duration = .days(14)
    /// Log lines of warnings and errors.
    package var errorLogs: Duration = .days(90)
    /// Watermarks and cursors, counted from the last poll.
    package var watermarks: Duration = .days(365)
    /// Settings, counted from the last activity. Settings with preferences stay until the user deletes them.
    package var settings: Duration = .days(730)
    /// Removed accounts with all their data (R-IDN-10).
    package var removed: Duration = .days(30)

    package init() {}

    /// Keeps data that cannot be replaced if the clock was wrong: dead letters, invalid items, stars, cursors, settings. Removed accounts
    /// are still deleted, because their deletion was requested.
    package mutating func spareWhatIsIrreplaceable() {
        let ever = Duration.days(100 * 365)
        (dead, quarantine, archivedStars, watermarks, settings) = (ever, ever, ever, ever, ever)
    }
}

/// The numbers of deleted rows.
package struct RetentionCounts: Sendable, Hashable {
    package internal(set) var outbox = 0
    package internal(set) var notifications = 0
    package internal(set) var shortlinks = 0
    package internal(set) var deliveries = 0
    package internal(set) var history = 0
    package internal(set) var slots = 0
    package internal(set) var logs = 0
    package internal(set) var archivedStars = 0
    package internal(set) var watermarks = 0
    package internal(set) var windows = 0
    package internal(set) var settings = 0

    package init() {}
}

extension Duration {
    /// A duration of `count` days of 24 hours.
    package static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
