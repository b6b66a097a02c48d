package import StarwatchCore

/// The result of an attempt to move a watermark.
package enum WatermarkOutcome: Sendable, Hashable {
    /// No terminal row lies above the watermark, or an open row is in the way.
    case unchanged
    case advanced(to: JWTID)
    /// Another writer moved it first.
    case conflict
}

extension Store {
    /// The stored watermark; `nil` if there is none.
    package func watermark(_ stream: StreamKey) throws(StoreError) -> JWTID? {
        try direct(.read) { db in try db.watermark(stream) }
    }

    /// Moves the watermark as far as ``WatermarkRule`` allows.
    ///
    /// Acknowledging does this itself. Call it after rows became dead, cancelled or suppressed. Does nothing for an
    /// identity that is not active.
    package func advanceWatermark(_ stream: StreamKey, now: Timestamp) throws(StoreError) -> WatermarkOutcome {
        let id = try streamID(stream)
        // Usually nothing can move, and then no transaction is needed.
        guard try direct(.read, { db in try db.isActive(stream.account) && next(stream, id, db) != nil }) else {
            return .unchanged
        }
        return try write(.watermark) { db in
            try db.isActive(stream.account) ? try advance(stream, id, db, now) : .unchanged
        }
    }

    /// Applies the rule to the stored rows, in the caller's transaction.
    func advance(_ stream: StreamKey, _ id: Int64, _ db: Session, _ now: Timestamp) throws -> WatermarkOutcome {
        guard let (current, next) = try next(stream, id, db) else { return .unchanged }
        return try swap(stream, expected: current, new: next, db, now) ? .advanced(to: next) : .conflict
    }

    /// The current watermark and its next value; `nil` if it stays.
    private func next(_ stream: StreamKey, _ id: Int64, _ db: Session) throws -> (current: JWTID?, next: JWTID)? {
        let fetched: JWTID? = try db.value("SELECT fetch_cursor FROM streams WHERE id = ?", [id])
        guard let cursor = fetched else { return nil }
        let firstOpen = try db.firstOpen(of: id)
        let last: JWTID? = try db.value(
            """
            SELECT jwt_id FROM notification_outbox WHERE stream_id = ? AND jwt_id < ? ORDER BY jwt_id DESC LIMIT 1
            """,
            // Below the first open row, and not above the cursor: all identifiers have one length, and their characters are
            // between `!` and `~`.
            [id, min(cursor.rawValue + "!", firstOpen?.rawValue ?? "~")]
        )
        let current = try db.watermark(stream)
        let next = WatermarkRule.advance(
            current: current,
            firstOpen: firstOpen,
            lastTerminalBeforeOpen: last,
            fetchCursor: cursor
        )
        return next.map { (current, $0) }
    }

    /// Moves the watermark from `expected` to `new` if no other writer moved it first (R-WM-07), and updates its mirror in
    /// `settings` in the same transaction.
    ///
    /// One compare-and-set statement, which never lowers the watermark.
    ///
    /// - Parameter expected: The value that the caller last read; `nil` if there was none.
    /// - Returns: Whether it moved. `false` is a normal result: read and decide again.
    func swap(_ stream: StreamKey, expected: JWTID?, new: JWTID, _ db: Session, _ now: Timestamp) throws -> Bool {
        let key = [db.key(stream.account), stream.server, stream.poll.rawValue]
        try db.run(
            """
            INSERT INTO watermarks (account, server, poll, updated_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (account, server, poll) DO NOTHING
            """,
            [key[0], key[1], key[2], now.milliseconds]
        )
        let moved = try db.changed(
            """
            UPDATE watermarks SET watermark = ?1, updated_at = ?2
            WHERE account = ?3 AND server = ?4 AND poll = ?5
                AND watermark IS ?6 AND (watermark IS NULL OR watermark < ?1)
            """,
            [new.rawValue, now.milliseconds, key[0], key[1], key[2], expected?.rawValue]
        )
        guard moved == 1 else { return false }
        // A host's stream without rows has no story.
        try db.run(
            """
            INSERT OR REPLACE INTO watermark_moves (stream_id, watermark, moved_at)
            SELECT id, ?1, ?2 FROM streams WHERE account = ?3 AND server = ?4 AND poll = ?5
            """,
            [new.rawValue, now.milliseconds, key[0], key[1], key[2]]
        )
        if starredPolls.contains(stream.poll) {
            try db.run(
                """
                UPDATE settings SET lastAckedStarredPlanChangesJwtId = ?1, lastAckedTimestamp = ?2, updated_at = ?2
                WHERE accountDid = ?3 AND apiServer = ?4
                """,
                [new.rawValue, now.milliseconds, key[0], key[1]]
            )
        }
        return true
    }
}

extension Session {
    /// The lowest identifier of a stream that holds the watermark; `nil` if none does.
    func firstOpen(of stream: Int64) throws -> JWTID? {
        try value(
            """
            SELECT min(jwt_id) FROM (
                SELECT (SELECT min(jwt_id) FROM notification_outbox WHERE state = 'pending' AND stream_id = ?1)
                    AS jwt_id
                UNION ALL
                SELECT (SELECT min(jwt_id) FROM notification_outbox WHERE state = 'claimed' AND stream_id = ?1)
                UNION ALL
                SELECT (SELECT min(jwt_id) FROM notification_outbox WHERE state = 'delivered' AND stream_id = ?1)
                UNION ALL
                SELECT (SELECT min(jwt_id) FROM notification_outbox WHERE state = 'evicted' AND stream_id = ?1))
            """,
            [stream]
        )
    }

    func watermark(_ stream: StreamKey) throws -> JWTID? {
        try value(
            "SELECT watermark FROM watermarks WHERE account = ? AND server = ? AND poll = ?",
            [key(stream.account), stream.server, stream.poll.rawValue]
        )
    }
}
