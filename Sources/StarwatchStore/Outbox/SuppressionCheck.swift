import StarwatchCore

/// Finds the changes of a page that are stored and not announced.
struct SuppressionCheck {
    private let overlapping: [PollName]
    private let stream: StreamKey
    /// The streams of the overlapping polls, read at the first new row.
    private var others: [Int64]?

    init(_ page: PageCommit) {
        overlapping = page.overlapping
        stream = page.stream
    }

    /// The reason why a change is not announced; `nil` if it is.
    mutating func reason(for change: FetchedChange, _ db: Session) throws -> RowReason? {
        if change.isOwn { return .own }
        for other in try streams(db) {
            if try db.outbox.announces(change.id, in: other) { return .announced }
        }
        return nil
    }

    private mutating func streams(_ db: Session) throws -> [Int64] {
        if let others { return others }
        let found = try overlapping.filter { $0 != stream.poll }.compactMap { poll in
            try db.streams.knownID(of: StreamKey(account: stream.account, server: stream.server, poll: poll))
        }
        others = found
        return found
    }
}

extension OutboxRows {
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
}
