package import StarwatchCore

/// The result of an attempt to move a watermark.
package enum WatermarkOutcome: Sendable, Hashable {
    /// No terminal row lies above the watermark, or an open row is in the way.
    case unchanged
    case advanced(to: JWTID)
    /// Another writer moved it first.
    case conflict
}

extension StoreAcknowledgements {
    /// Moves the watermark as far as ``WatermarkRule`` allows.
    ///
    /// Acknowledging does this itself. Call it after rows became dead, cancelled or suppressed. Does nothing for an
    /// identity that is not active.
    package func advanceWatermark(_ stream: StreamKey, now: Timestamp) async throws(StoreError) -> WatermarkOutcome {
        try await store.perform { store throws(StoreError) in
            // Usually nothing can move, and then no transaction is needed.
            let canMove = try store.direct(.read, of: stream) { db, id in
                try db.identity.isActive(stream.account) && db.acknowledgements.next(stream, id) != nil
            }
            guard canMove else { return .unchanged }
            return try store.write(.watermark, of: stream) { db, id in
                try db.identity.isActive(stream.account)
                    ? try db.acknowledgements.advance(stream, id, now) : .unchanged
            }
        }
    }
}

extension AcknowledgementRows {
    /// The stored watermark; `nil` if there is none.
    func watermark(of stream: StreamKey) throws -> JWTID? {
        try db.value(
            "SELECT watermark FROM watermarks WHERE account = ? AND server = ? AND poll = ?",
            [db.key(stream.account), stream.server, stream.poll.rawValue]
        )
    }

    /// Applies the rule to the stored rows, in the caller's transaction.
    func advance(_ stream: StreamKey, _ id: Int64, _ now: Timestamp) throws -> WatermarkOutcome {
        guard let (current, next) = try next(stream, id) else { return .unchanged }
        return try swap(stream, expected: current, new: next, now) ? .advanced(to: next) : .conflict
    }

    /// The current watermark and its next value; `nil` if it stays.
    func next(_ stream: StreamKey, _ id: Int64) throws -> (current: JWTID?, next: JWTID)? {
        let fetched: JWTID? = try db.value("SELECT fetch_cursor FROM streams WHERE id = ?", [id])
        guard let cursor = fetched else { return nil }
        let firstOpen = try db.outbox.firstOpen(of: id)
        let last: JWTID? = try db.value(
            "SELECT jwt_id FROM notification_outbox WHERE stream_id = ? AND jwt_id < ? ORDER BY jwt_id DESC LIMIT 1",
            // Below the first open row, and not above the cursor: all identifiers have one length, and their characters are
            // between `!` and `~`.
            [id, min(cursor.rawValue + "!", firstOpen?.rawValue ?? "~")]
        )
        let current = try watermark(of: stream)
        let next = WatermarkRule.advance(
            current: current,
            firstOpen: firstOpen,
            lastTerminalBeforeOpen: last,
            fetchCursor: cursor
        )
        return next.map { (current, $0) }
    }

    /// Moves the watermark from `expected` to `new` if no other writer moved it first, and updates its mirror in
    /// `settings` in the same transaction.
    ///
    /// One compare-and-set statement, which never lowers the watermark.
    ///
    /// - Parameter expected: The value that the caller last read; `nil` if there was none.
    /// - Returns: Whether it moved. `false` is a normal result: read and decide again.
    func swap(_ stream: StreamKey, expected: JWTID?, new: JWTID, _ now: Timestamp) throws -> Bool {
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
                AND coalesce(watermark, '') = coalesce(?6, '') AND (watermark IS NULL OR watermark < ?1)
            """,
            [new.rawValue, now.milliseconds, key[0], key[1], key[2], expected?.rawValue]
        )
        guard moved == 1 else { return false }
        // A host's stream without rows has no story.
        try db.run(
            """
            INSERT INTO watermark_moves (stream_id, watermark, moved_at)
            SELECT id, ?1, ?2 FROM streams WHERE account = ?3 AND server = ?4 AND poll = ?5
            ON CONFLICT (stream_id, watermark) DO UPDATE SET moved_at = excluded.moved_at
            """,
            [new.rawValue, now.milliseconds, key[0], key[1], key[2]]
        )
        if db.context.options.starredPolls.contains(stream.poll) {
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

extension OutboxRows {
    /// The lowest identifier of a stream that holds the watermark; `nil` if none does.
    func firstOpen(of stream: Int64) throws -> JWTID? {
        try db.value(
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
}
