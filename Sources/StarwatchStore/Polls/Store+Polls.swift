import GRDB
package import StarwatchCore

extension Store {
    /// What a cycle has to know, in one cheap read.
    ///
    /// - Parameter maxUndelivered: The cap on pending and claimed rows, over all streams (C-065).
    package func pollState(_ stream: StreamKey, maxUndelivered: Int) throws(StoreError) -> PollState {
        let id = try streamID(stream)
        return try direct(.pollState) { db in
            let row = try db.row(
                """
                SELECT i.generation, i.activeDid IS s.account, s.fetch_cursor, s.bootstrapped_at, s.walk_top,
                    s.walk_before, s.walk_after, s.last_attempt, s.last_success, s.next_run, w.watermark,
                    (SELECT count(*) FROM notification_outbox WHERE state = 'pending')
                    + (SELECT count(*) FROM notification_outbox WHERE state = 'claimed')
                FROM streams s, active_identity i
                LEFT JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll
                WHERE s.id = ?
                """,
                [id]
            )
            guard let row else { throw Row.damaged }
            var walk: OpenWalk?
            if let top = try row.optionalJWTID(4), let before = try row.optionalJWTID(5) {
                walk = OpenWalk(top: top, before: before, after: try row.optionalJWTID(6))
            }
            let open: Int = row[11]
            let cursor = try row.optionalJWTID(2)
            let hasTombstones = try db.tombstoneFloor(id) != nil
            let state = PollState(
                generation: row[0],
                isActive: row[1],
                fetchCursor: cursor,
                bootstrapped: row.optionalTime(3) != nil,
                walk: walk,
                watermark: try row.optionalJWTID(10),
                lastAttempt: row.optionalTime(7),
                lastSuccess: row.optionalTime(8),
                nextRun: row.optionalTime(9),
                openRows: open,
                room: max(0, maxUndelivered - open),
                hasTombstones: hasTombstones,
                known: hasTombstones ? [] : try db.known(of: id, at: cursor)
            )
            // What a host owns may change behind our back.
            if options.owner == .agent { pollMemory.remember(state, of: stream, maxUndelivered: maxUndelivered) }
            return state
        }
    }

    /// What ``pollState(_:maxUndelivered:)`` would answer, from memory and without waiting for the store's queue.
    ///
    /// The times of the last cycle may be those of an earlier one.
    ///
    /// - Returns: `nil` when it was not asked since something was written.
    package nonisolated func rememberedPollState(_ stream: StreamKey, maxUndelivered: Int) -> PollState? {
        pollMemory.state(of: stream, maxUndelivered: maxUndelivered)
    }

    /// Ends a stream's first run: from here on, what is found is new (C-003).
    ///
    /// Sets the fetch cursor, and the watermark by compare-and-swap from none: the one write of a watermark without
    /// an acknowledgement (C-004). Rows of the overlap go first, through ``commit(page:)`` with `.bootstrap`.
    ///
    /// Unlike any other transaction it outlives a loss of power: a stream that had to find its start again would pass
    /// over what came in between, and nobody would be told of it.
    ///
    /// - Parameters:
    ///   - interests: What the account wanted to hear of when the run began; `nil`: not looked at.
    ///   - top: The greatest identifier found; `nil` when there was none, which is remembered too.
    /// - Returns: `false` when the identity changed since `generation` was read, or its interests, or the server its
    ///   dialect; then nothing was written.
    package func finishBootstrap(
        _ stream: StreamKey,
        generation: Int,
        interests: Interests? = nil,
        top: JWTID?,
        now: Timestamp
    ) throws(StoreError) -> Bool {
        let id = try streamID(stream)
        let isFinished = try write(.bootstrap) { db in
            guard try db.isCurrent(stream.account, generation: generation), try db.understands(top?.kind, of: id),
                try isWanted(stream, interests, db)
            else { return false }
            try db.run(
                """
                UPDATE streams SET bootstrapped_at = coalesce(bootstrapped_at, ?1), walk_top = NULL,
                    walk_before = NULL, walk_after = NULL,
                    fetch_cursor = CASE WHEN fetch_cursor IS NULL OR fetch_cursor < ?2 THEN ?2 ELSE fetch_cursor END
                WHERE id = ?3
                """,
                [now.milliseconds, top?.rawValue, id]
            )
            if let top { _ = try swap(stream, expected: nil, new: top, db, now) }
            return true
        }
        // What the log holds is on the disk only when it was moved into the database.
        if isFinished { try checkpoint() }
        return isFinished
    }

    /// Stores how a cycle ended. A history row is written only for cycles that changed something or failed.
    package func finishCycle(_ cycle: CycleRecord) throws(StoreError) {
        let id = try streamID(cycle.stream)
        guard let outcome = cycle.outcome, outcome != .unchanged else {
            return try direct(.finishCycle) { db in try db.finish(cycle, of: id) }
        }
        try write(.finishCycle) { db in
            try db.finish(cycle, of: id)
            try db.run(
                """
                INSERT INTO history (stream_id, run_id, started_at, finished_at, outcome, new_rows, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    id, cycle.runID, (cycle.startedAt ?? cycle.finishedAt).milliseconds,
                    cycle.finishedAt.milliseconds, outcome.rawValue, cycle.newRows, cycle.reason,
                ]
            )
        }
    }

    /// Stores the end of a cycle that found nothing, without making the caller wait for it.
    ///
    /// It waits in the store's queue like any call; cycles that end together share a transaction. A failure goes to
    /// ``StoreOptions/onUnrecorded``.
    package nonisolated func recordUnchanged(_ cycle: CycleRecord) {
        guard unchanged.add(cycle) else { return }
        executor.run { self.assumeIsolated { $0.storeUnchanged() } }
    }

    private func storeUnchanged() {
        let cycles = unchanged.take()
        do throws(StoreError) {
            if cycles.count == 1 { return try finishCycle(cycles[0]) }
            var ids: [Int64] = []
            for cycle in cycles { ids.append(try streamID(cycle.stream)) }
            try write(.finishCycle) { db in
                for (cycle, id) in zip(cycles, ids) { try db.finish(cycle, of: id) }
            }
        } catch {
            options.onUnrecorded(error)
        }
    }

    /// The request window stored for an account; `nil` when there is none.
    package func requestWindow(of account: DID) throws(StoreError) -> [UInt8]? {
        try direct(.read) { db in
            try db.row("SELECT window FROM request_windows WHERE account = ?", [account.rawValue])?.bytes(0)
        }
    }

    /// Stores an account's request window, before a request goes and when the clock was set.
    ///
    /// - Parameter spentAt: When the last request of it was counted.
    package func setRequestWindow(_ window: [UInt8], of account: DID, spentAt: Timestamp) throws(StoreError) {
        try direct(.finishCycle) { db in
            try db.run(
                """
                INSERT INTO request_windows (account, window, spent_at) VALUES (?, ?, ?)
                ON CONFLICT (account) DO UPDATE SET window = excluded.window, spent_at = excluded.spent_at
                """,
                [account.rawValue, window.blob, spentAt.milliseconds]
            )
        }
    }

    /// The cycles of a stream that changed something or failed, newest first.
    package func history(_ stream: StreamKey, limit: Int) throws(StoreError) -> [HistoryEntry] {
        let id = try streamID(stream)
        return try direct(.read) { db in
            var found: [HistoryEntry] = []
            let rows = try db.rows(
                """
                SELECT run_id, started_at, finished_at, outcome, new_rows, reason FROM history
                WHERE stream_id = ? ORDER BY finished_at DESC, id DESC LIMIT ?
                """,
                [id, limit]
            )
            while let row = try rows.next() {
                found.append(
                    HistoryEntry(
                        runID: row[0],
                        startedAt: row.time(1),
                        finishedAt: row.time(2),
                        outcome: try row.word(3),
                        newRows: row[4],
                        reason: row[5]
                    )
                )
            }
            return found
        }
    }
}

extension Database {
    /// The rows a poll gets again because it looks back from the cursor, up to some number.
    fileprivate func known(of stream: Int64, at cursor: JWTID?) throws -> Set<JWTID> {
        guard let cursor else { return [] }
        // No dialect looks back further.
        let oldest = JWTID.floor(cursor.kind, at: cursor.timestamp - .seconds(60))
        let rows = try rows(
            """
            SELECT jwt_id FROM notification_outbox WHERE stream_id = ?1 AND jwt_id >= ?2
                AND (substr(jwt_id, 11, 1) = '_') = (substr(?2, 11, 1) = '_') AND NOT (\(Schema.isOpenAgain))
            ORDER BY jwt_id DESC LIMIT 200
            """,
            [stream, oldest.rawValue]
        )
        var known: Set<JWTID> = []
        while let row = try rows.next() { known.insert(try row.jwtID(0)) }
        return known
    }

    fileprivate func finish(_ cycle: CycleRecord, of id: Int64) throws {
        try run(
            """
            UPDATE streams SET last_attempt = coalesce(?1, last_attempt), last_success = coalesce(?2, last_success),
                last_outcome = coalesce(?3, last_outcome), next_run = coalesce(?4, next_run)
            WHERE id = ?5
            """,
            [
                cycle.startedAt?.milliseconds, cycle.successAt?.milliseconds, cycle.outcome?.rawValue,
                cycle.nextRun?.milliseconds, id,
            ]
        )
    }
}
