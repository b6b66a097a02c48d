import StarwatchCore

/// The retention periods, counted from the end of each row.
package struct RetentionPolicy: Sendable, Hashable {
    /// Outbox rows in a final state.
    package var delivered: Duration = .days(7)
    package var dead: Duration = .days(30)
    /// Quarantined items that the server has not sent since.
    package var quarantine: Duration = .days(30)
    /// Notifications, the history of cycles, and suppressed rows without acknowledgement.
    package var history: Duration = .days(30)
    package var archivedStars: Duration = .days(30)
    /// Deliveries to sinks, the states that changes have left, the last runs, and the slots of digests.
    package var deliveries: Duration = .days(14)
    /// Log lines of warnings and errors.
    package var errorLogs: Duration = .days(90)
    package var journal: Duration = .days(90)
    /// Watermarks and cursors, counted from the last poll.
    package var watermarks: Duration = .days(365)
    /// Settings, counted from the last activity. Settings with preferences stay until the user deletes them.
    package var settings: Duration = .days(730)
    /// Copies from before upgrades; `nil` means the database's setting.
    package var copies: Duration?
    /// Removed accounts with all their data.
    package var removed: Duration = .days(30)

    package init() {}

    /// Keeps data that cannot be replaced if the clock was wrong: dead letters, invalid items, stars, cursors, settings, copies. Removed accounts
    /// are still deleted, because their deletion was requested.
    package mutating func spareWhatIsIrreplaceable() {
        let ever = Duration.days(100 * 365)
        (dead, quarantine, archivedStars, watermarks, settings) = (ever, ever, ever, ever, ever)
        copies = ever
    }
}

extension RetentionPolicy {
    /// The statements that delete the rows of one table that are older than an age.
    var expiries: [(statement: String, age: Duration)] {
        // A staleness notice must be withdrawn from the sinks that have it, however late.
        let standing = "(SELECT notification_id FROM staleness_notices)"
        return [
            (
                // The row of one sink must stay while another sink is due or can be retried. A sink's dead letter stays
                // with its notification.
                """
                DELETE FROM deliveries WHERE state <> 'pending' AND updated_at < ?
                    AND notification_id NOT IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost))
                    AND notification_id NOT IN (SELECT id FROM notifications WHERE state IN ('open', 'dead'))
                    AND notification_id NOT IN \(standing)
                """,
                deliveries
            ),
            (
                """
                DELETE FROM notifications WHERE state NOT IN ('open', 'dead') AND finished_at < ?
                    AND id NOT IN \(standing)
                    AND id IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost))
                """,
                dead
            ),
            (
                """
                DELETE FROM notifications WHERE state <> 'open' AND finished_at < ? AND id NOT IN \(standing)
                    AND (state = 'dead' OR id NOT IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost)))
                    AND (state <> 'dead' OR NOT EXISTS (SELECT 1 FROM notification_outbox o
                        WHERE o.state = 'dead' AND o.stream_id = notifications.stream_id
                            AND o.notification_id = notifications.id))
                """,
                history
            ),
            (
                """
                DELETE FROM feature_notices WHERE finished_at < ?
                    AND token NOT IN (SELECT token FROM notifications WHERE state = 'open')
                """,
                history
            ),
            ("DELETE FROM feed WHERE created_at < ?", history),
            ("DELETE FROM shortlinks WHERE expires_at <= ?", .zero),
            ("DELETE FROM quarantine WHERE seen_at < ?", quarantine),
            (
                // The changes before a silence tell how long it usually is, however long it lasts.
                """
                DELETE FROM history WHERE finished_at < ? AND NOT (new_rows > 0 AND finished_at >=
                    coalesce((SELECT last_new FROM streams WHERE id = stream_id), 1 << 62) - \(ChangeRhythm.window.wholeMilliseconds))
                """,
                history
            ),
            ("DELETE FROM notif_contents WHERE coalesce(validated_at, fetched_at) < ?", deliveries),
            ("DELETE FROM notif_deliveries WHERE fire_at < ?", deliveries),
            ("DELETE FROM log_entries WHERE level >= 2 AND created_at < ?", errorLogs),
            ("DELETE FROM journal WHERE created_at < ?", journal),
            ("DELETE FROM delivery_attempts WHERE finished_at < ?", deliveries),
            ("DELETE FROM former_states WHERE at < ?", deliveries),
            ("DELETE FROM recent_runs WHERE finished_at < ?", deliveries),
            ("DELETE FROM page_fetches WHERE answered_at < ?", history),
            ("DELETE FROM watermark_moves WHERE moved_at < ?", history),
            ("DELETE FROM starred_archive WHERE archived_at < ?", archivedStars),
            ("DELETE FROM poll_schedules WHERE updated_at < ?", watermarks),
            // A window matters for a minute only.
            ("DELETE FROM request_windows WHERE spent_at < ?", .days(1)),
        ]
    }
}

extension Duration {
    /// A duration of `count` days of 24 hours.
    package static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
