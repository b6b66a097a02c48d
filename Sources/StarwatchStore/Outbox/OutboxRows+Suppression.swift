import StarwatchCore

extension OutboxRows {
    /// The condition of rows `o` of a stream that only count what a row of another poll is still to announce.
    ///
    /// - Parameter stream: The place of the stream's row id in the statement.
    static func areCounted(in stream: String) -> String {
        """
        (coalesce(o.reason, '') = '\(RowReason.announced.rawValue)' AND EXISTS (
            SELECT 1 FROM streams s JOIN streams t ON t.account = s.account AND t.server = s.server
            CROSS JOIN notification_outbox p ON p.stream_id = t.id AND p.jwt_id = o.jwt_id
            WHERE s.id = \(stream) AND p.state IN ('pending', 'claimed', 'evicted', 'dead')))
        """
    }

    /// Whether a stream has a row that announces a change.
    func announces(_ change: JWTID, in stream: Int64) throws -> Bool {
        let found = try db.row(
            """
            SELECT state, notification_id IS NOT NULL OR reason IS NOT NULL AS is_decided FROM notification_outbox
            WHERE stream_id = ? AND jwt_id = ?
            """,
            [stream, change.rawValue]
        )
        guard let found else { return false }
        let state: OutboxState = try found["state"]
        return state.announces(isDecided: try found["is_decided"])
    }

    /// Ends a row that waits for delivery or room without an announcement.
    func suppress(_ change: JWTID, of stream: Int64, _ reason: RowReason, _ now: Timestamp) throws {
        try db.run(
            """
            UPDATE notification_outbox SET state = 'suppressed', reason = ?, finished_at = ?
            WHERE stream_id = ? AND jwt_id = ?
            """,
            [reason.rawValue, now.milliseconds, stream, change.rawValue]
        )
    }

    /// Lets another poll announce what these rows ended without announcing: of each change, the oldest row that was suppressed
    /// because of it becomes pending, unless a further row announces it.
    ///
    /// Such a row can be acknowledged already, where the server does not learn of it. It is acknowledged again. It waits from
    /// now on, because the age of the oldest waiting row raises an alert.
    ///
    /// - Parameter rows: The ended rows, all of one account.
    /// - Returns: The number of changes that another poll announces now.
    @discardableResult
    func passOn(_ rows: [Int64], _ now: Timestamp) throws -> Int {
        let copies = try rows.isEmpty ? [] : copies(of: rows)
        guard let account = copies.first?.key.account else { return 0 }
        let isWanted = try db.stars.wish(of: account)
        var (passed, ledgers): (Int, [Int64: Ledger]) = (0, [:])
        for copy in copies where isWanted(copy.key.poll, copy.change) {
            guard try !isAnnounced(copy.change.id, besides: copy.stream) else { continue }
            _ = try db.formerStates.change(
                rows: "id = ?3",
                [copy.id],
                as: .released,
                to: """
                    state = 'pending', created_at = ?2, finished_at = NULL, reason = NULL, acknowledged_at = NULL,
                    ack_request_id = NULL
                    """,
                now
            )
            passed += 1
            ledgers[copy.stream, default: Ledger()].suppressed -= 1
            if copy.isAcknowledged { ledgers[copy.stream, default: Ledger()].acknowledged -= 1 }
        }
        for (stream, delta) in ledgers.sorted(by: { $0.key < $1.key }) { try db.ledger.add(delta, to: stream) }
        return passed
    }

    /// The rows of the same changes that were not announced because of `rows`, the first one first. Each comes once, also
    /// if two of `rows` have its change. An account that is gone has none, because nothing would deliver it; a paused one has.
    private func copies(
        of rows: [Int64]
    ) throws -> [(id: Int64, stream: Int64, key: StreamKey, change: Change, isAcknowledged: Bool)] {
        try db.all(
            """
            SELECT DISTINCT p.id, p.stream_id, t.account, t.server, t.poll, p.jwt_id, p.plan_id, p.name, p.is_offer, p.is_edition,
                p.fulfills_offer, p.details, CASE WHEN p.acknowledged_at IS NULL THEN 0 ELSE 1 END AS is_acknowledged
            FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
            JOIN streams t ON t.account = s.account AND t.server = s.server AND t.id <> s.id
            CROSS JOIN notification_outbox p ON p.stream_id = t.id AND p.jwt_id = o.jwt_id
            WHERE o.id IN (SELECT value FROM json_each(?))
                AND (\(Schema.isActive) OR EXISTS (SELECT 1 FROM accounts a WHERE a.account = s.account))
                AND +p.state = 'suppressed' AND p.reason = '\(RowReason.announced.rawValue)'
            ORDER BY p.id
            """,
            [jsonArray(rows)]
        ) { row in
            let (id, stream): (Int64, Int64) = (try row["id"], try row["stream_id"])
            let (key, change) = (try visibleStream(row), try visibleChange(row, of: stream))
            return (id, stream, key, change, try row["is_acknowledged"])
        }
    }

    /// Whether a row of another poll of the same account and server announces a change.
    private func isAnnounced(_ change: JWTID, besides stream: Int64) throws -> Bool {
        let others: [Int64] = try db.values(
            """
            SELECT t.id FROM streams s JOIN streams t ON t.account = s.account AND t.server = s.server AND t.id <> s.id
            WHERE s.id = ?
            """,
            [stream]
        )
        return try others.contains { try announces(change, in: $0) }
    }
}
