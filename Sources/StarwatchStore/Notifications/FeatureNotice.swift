package import StarwatchCore

/// A pending notice of a new feature for one account. Its token is the notification's id, `ntf_…`, created with the notice.
package typealias FeatureNotice = (feature: String, token: String, createdAt: Timestamp)

/// New features, and the accounts created before them.
extension StoreNotifications {
    /// Announces a feature, once, to the accounts that have preferences and no stars.
    ///
    /// Each such account gets a notice unless its preferences disable the feature. Its stars stay empty until
    /// its user sets them. Its watermark and its archived stars stay, the latter for their 30 days. The same
    /// transaction records the feature, so accounts created later get no notice and an interrupted run has no effect.
    ///
    /// - Parameter token: Returns a new notice id.
    /// - Returns: The number of notices; `nil` if the feature was introduced before.
    package func introduce(
        feature: String,
        now: Timestamp,
        token: @Sendable () -> String
    ) async throws(StoreError) -> Int? {
        try await store.write(.identity) { db in
            let isNew = try db.changed(
                """
                INSERT INTO feature_introductions (feature, introduced_at) VALUES (?, ?)
                ON CONFLICT (feature) DO NOTHING
                """,
                [feature, now.milliseconds]
            )
            guard isNew == 1 else { return nil }
            let candidates: [(account: String, stars: String?)] = try db.all(
                """
                SELECT accountDid, starredPlanHandleIds FROM settings
                WHERE notificationPreferences NOT IN ('{}', 'null')
                    AND coalesce(json_extract(notificationPreferences, '$.starredProjects'), 1) <> 0
                    AND coalesce(json_extract(notificationPreferences, '$.starred_projects'), 1) <> 0
                ORDER BY id
                """
            ) { row in
                let account: String = try row["accountDid"]
                let stars = try ifReadable {
                    try db.opened(row["starredPlanHandleIds"], .stars, row: account) as String
                }
                return (account, stars)
            }
            let accounts = candidates.filter { $0.stars.flatMap(decodeStars) == [] }.map(\.account)
            for account in accounts {
                try db.run("UPDATE settings SET updated_at = ? WHERE accountDid = ?", [now.milliseconds, account])
                try db.run(
                    "INSERT INTO feature_notices (account, feature, token, created_at) VALUES (?, ?, ?, ?)",
                    [account, feature, token(), now.milliseconds]
                )
            }
            return accounts.count
        }
    }

    /// The account's pending notices, the oldest first.
    package func openNotices(of account: DID) async throws(StoreError) -> [FeatureNotice] {
        try await store.direct(.read) { db in
            try db.all(
                """
                SELECT feature, token, created_at FROM feature_notices
                WHERE account = ? AND finished_at IS NULL ORDER BY created_at, feature
                """,
                [db.key(account)]
            ) { row in (try row["feature"], try row["token"], try row["created_at"]) }
        }
    }

    /// Turns a notice into a notification, delivered, retried and dismissed like any other. Does nothing if that was
    /// done before or another identity is active.
    package func announce(
        _ notice: FeatureNotice,
        on stream: StreamKey,
        _ notification: OutgoingNotification,
        sinks: [String],
        now: Timestamp
    ) async throws(StoreError) {
        try await store.write(.claim, of: stream) { db, id in
            guard try db.identity.isActive(stream.account),
                try db.changed(
                    """
                    UPDATE feature_notices SET finished_at = ?
                    WHERE account = ? AND feature = ? AND finished_at IS NULL
                    """,
                    [now.milliseconds, db.key(stream.account), notice.feature]
                ) == 1
            else { return }
            _ = try db.notifications.insertNotice(notification, of: id, to: sinks, now: now)
        }
    }
}
