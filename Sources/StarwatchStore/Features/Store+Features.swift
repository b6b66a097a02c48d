import FoundationEssentials
import GRDB
package import StarwatchCore

/// New features, and the accounts that were here before them (R-IDN-07…R-IDN-10).
extension Store {
    /// Migrates the accounts that had preferences and no stars when a feature came, once and in one transaction.
    ///
    /// Such an account gets a notice of the feature, unless its preferences switch that off (C-193). Its stars stay
    /// empty until its user sets them; a watermark that it has stays, and so do its archived stars, for their 30 days.
    /// The feature is marked in the same transaction: an account of later is nobody to tell, and a migration that is
    /// interrupted has not happened.
    ///
    /// - Parameter token: Makes the notices' ids.
    /// - Returns: How many accounts are to be told; `nil` when the feature was introduced before.
    package func introduce(
        feature: String,
        now: Timestamp,
        token: @Sendable () -> String
    ) throws(StoreError) -> Int? {
        try write(.identity) { db in
            let isNew = try db.changed(
                """
                INSERT INTO feature_introductions (feature, introduced_at) VALUES (?, ?)
                ON CONFLICT (feature) DO NOTHING
                """,
                [feature, now.milliseconds]
            )
            guard isNew == 1 else { return nil }
            let accounts = try String.fetchAll(
                db,
                sql: """
                    SELECT accountDid FROM settings WHERE notificationPreferences NOT IN ('{}', 'null')
                        AND starredPlanHandleIds = '[]'
                        AND coalesce(json_extract(notificationPreferences, '$.starredProjects'), 1) <> 0
                        AND coalesce(json_extract(notificationPreferences, '$.starred_projects'), 1) <> 0
                    ORDER BY id
                    """
            )
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

    /// The notices that the account is still to get, the oldest first.
    package func openNotices(of account: DID) throws(StoreError) -> [FeatureNotice] {
        try direct(.read) { db in
            var notices: [FeatureNotice] = []
            let rows = try db.rows(
                """
                SELECT feature, token, sinks_done, attempts, created_at FROM feature_notices
                WHERE account = ? AND finished_at IS NULL ORDER BY created_at, feature
                """,
                [account.rawValue]
            )
            while let row = try rows.next() {
                notices.append(
                    FeatureNotice(
                        account: account,
                        feature: row[0],
                        token: row[1],
                        sinksDone: try sinks(row[2]),
                        attempts: row[3],
                        createdAt: row.time(4)
                    )
                )
            }
            return notices
        }
    }

    /// Notes what came of handing a notice to the sinks.
    ///
    /// - Parameters:
    ///   - done: All sinks that have it, or will never take it.
    ///   - isFinished: Whether no sink is left to try.
    package func noteNotice(
        _ notice: FeatureNotice,
        done: Set<String>,
        isFinished: Bool,
        now: Timestamp
    ) throws(StoreError) {
        let json = try? JSONEncoder().encode(done.sorted())
        try direct(.delivery) { db in
            try db.run(
                """
                UPDATE feature_notices SET sinks_done = ?, attempts = attempts + 1, finished_at = ?
                WHERE account = ? AND feature = ? AND finished_at IS NULL
                """,
                [
                    String(decoding: json ?? Data("[]".utf8), as: UTF8.self), isFinished ? now.milliseconds : nil,
                    notice.account.rawValue, notice.feature,
                ]
            )
        }
    }

    private func sinks(_ json: String) throws -> Set<String> {
        guard let names = try? JSONDecoder().decode([String].self, from: Data(json.utf8)) else { throw Row.damaged }
        return Set(names)
    }
}
