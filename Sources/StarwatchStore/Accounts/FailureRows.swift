package import StarwatchCore

/// The failures of accounts, from the history of their cycles, in one access.
private struct FailureRows {
    let db: Session
    /// The configured polls that are switched on.
    let polls: [PollName: PollKind]
    /// The server of the accounts, in the form of ``StreamKey/server``.
    let server: String
    /// The only account; `nil` for all.
    let account: DID?

    /// The conditions on the history of a stream `s` since its last success.
    private static let sinceSuccess = """
        FROM history h WHERE h.stream_id = s.id AND h.finished_at > coalesce(s.last_success, 0)
            AND h.outcome IN ('failed', 'deferred')
        """

    func worst(counted: Int) throws -> [AccountFailure] {
        let own = try ofPolls() + ofAcknowledgements()
        var worst = AccountFailure.worst(own.map(\.failure))
        let streams = Dictionary(own.map { ($0.failure, $0.stream) }) { first, _ in first }
        for index in worst.indices.prefix(counted) where !worst[index].isOfAcknowledgement {
            guard let stream = streams[worst[index]] else { continue }
            worst[index].count = try db.integer(
                "SELECT (SELECT count(*) \(Self.sinceSuccess)) FROM streams s WHERE s.id = ?",
                [stream]
            )
        }
        return worst
    }

    private func ofPolls() throws -> [(stream: Int64, failure: AccountFailure)] {
        try db.all(
            """
            SELECT s.id, s.account, s.poll, s.next_run, t.starredPlanHandleIds, t.notificationPreferences,
                (SELECT h.reason \(Self.sinceSuccess) ORDER BY h.finished_at DESC LIMIT 1) AS reason,
                (SELECT h.finished_at \(Self.sinceSuccess) ORDER BY h.finished_at LIMIT 1) AS since,
                (SELECT count(*) FROM (SELECT 1 \(Self.sinceSuccess) LIMIT \(HealthFacts.Poll.failingAfter))) AS failures
            FROM accounts a JOIN streams s ON s.account = a.account JOIN settings t ON t.accountDid = a.account
            WHERE a.status = 'active' AND s.server = ?1 AND (?2 IS NULL OR a.account = ?2)
                AND s.last_outcome IN ('failed', 'deferred', 'cancelled') AND s.poll IN (SELECT value FROM json_each(?3))
            """,
            [server, account.map(db.key), names]
        ) { row -> (stream: Int64, failure: AccountFailure)? in
            let poll: PollName = try row["poll"]
            guard let since = try row["since"] as Timestamp?, let kind = polls[poll],
                let did = try ifReadable({ try db.account(row["account"]) }),
                try isExpected(poll, kind, of: did, row)
            else { return nil }
            return (
                stream: try row["id"],
                failure: AccountFailure(
                    account: did,
                    poll: poll,
                    reason: (try row["reason"] as String?).flatMap { FailureReason($0) },
                    since: since,
                    count: try row["failures"],
                    nextRun: try row["next_run"]
                )
            )
        }.compactMap(\.self)
    }

    private var names: String { jsonArray(polls.keys.map(\.rawValue).sorted()) }

    /// Whether the account wants the poll, and has the stars that it needs.
    private func isExpected(_ poll: PollName, _ kind: PollKind, of did: DID, _ row: SQLRow) throws -> Bool {
        let preferences: String = try row["notificationPreferences"]
        let (optedOut, wanted) = (WantedPolls.optedOut(preferences), WantedPolls.read(preferences))
        guard WantedPolls.has(poll, of: kind, optedOut: optedOut, wanted: wanted) else { return false }
        guard kind.needsStars else { return true }
        return try db.stars.decoded(row["starredPlanHandleIds"], of: did)?.isEmpty == false
    }

    /// The batches of acknowledgements that failed again. Their reason is not stored.
    private func ofAcknowledgements() throws -> [(stream: Int64, failure: AccountFailure)] {
        try db.all(
            """
            SELECT s.id, s.account, s.poll, b.attempts, b.created_at
            FROM ack_batches b JOIN streams s ON s.id = b.stream_id JOIN accounts a ON a.account = s.account
            WHERE a.status = 'active' AND s.server = ?1 AND (?2 IS NULL OR a.account = ?2) AND b.attempts >= ?3
                AND s.poll IN (SELECT value FROM json_each(?4))
            """,
            [server, account.map(db.key), HealthFacts.acknowledgementsFailAfter, names]
        ) { row -> (stream: Int64, failure: AccountFailure)? in
            guard let did = try ifReadable({ try db.account(row["account"]) }) else { return nil }
            return (
                stream: try row["id"],
                failure: AccountFailure(
                    account: did,
                    poll: try row["poll"],
                    reason: nil,
                    since: try row["created_at"],
                    count: try row["attempts"],
                    nextRun: nil,
                    isOfAcknowledgement: true
                )
            )
        }.compactMap(\.self)
    }
}

extension StoreAccounts {
    /// The worst failure of each active account that fails, the longest one first.
    ///
    /// - Parameters:
    ///   - polls: The configured polls that are switched on.
    ///   - server: The server of the accounts, in the form of ``StreamKey/server``.
    ///   - counted: The number of failures whose count is exact, the longest ones first.
    ///   - account: The only account; `nil` for all.
    package func failures(
        of polls: [PollName: PollKind],
        server: String,
        counted: Int,
        account: DID? = nil
    ) async throws(StoreError) -> [AccountFailure] {
        try await store.direct(.read) { db in
            try FailureRows(db: db, polls: polls, server: server, account: account).worst(counted: counted)
        }
    }
}
