import StarwatchCore

extension Store {
    /// Stores a page: new rows, ledger, fetch cursor and walk, in one transaction (R-OUT-04).
    ///
    /// Stops before the first item without room. The remaining items are not counted and stay on the server.
    package func commit(page: PageCommit) throws(StoreError) -> PageCommitResult {
        let id = try streamID(page.stream)
        return try write(.commit) { db in
            guard try db.isCurrent(page.stream.account, generation: page.expectedGeneration),
                try db.understands(page.idKind, of: id),
                try isWanted(page.stream, page.expectedInterests, db)
            else { return .stale }
            var counts = PageCommitCounts()
            var snapshots = PlanSnapshots(page.stream)
            let fetch = try page.origin == nil ? nil : db.nextFetchID()
            try insert(page, id, fetch, db, &snapshots, &counts)
            // A page without new rows has no story.
            if let fetch, let origin = page.origin, counts.inserted + counts.refetched > 0 {
                try db.store(origin, fetch, runID: page.runID)
            }
            for fetched in page.seenOnly { try snapshots.keep(fetched, db) }
            try snapshots.store(db)
            let inLedger = page.disposition != .bootstrap
            if inLedger { counts.quarantined = try db.quarantine(page, of: id) }
            var delta = Ledger()
            if inLedger {
                delta.new = counts.inserted
                delta.suppressed = page.disposition == .suppress ? counts.inserted : counts.suppressed + counts.settled
                delta.duplicate = counts.duplicates
                delta.rejected = page.rejectedCount
                // Counted independently of the other counters, so that the imbalance metric can compare them.
                delta.fetched = counts.handled + page.rejectedCount
                record(.inserted, counts.inserted)
                record(.duplicate, counts.duplicates)
                record(.rejected, page.rejectedCount)
                record(.suppressed, delta.suppressed)
            }
            record(.refetched, counts.refetched)
            delta.cancelled -= counts.reopened + counts.settledCancelled
            if let completed = page.completed, !counts.outOfRoom {
                counts.superseded = try supersede(completed, id, db, page.now)
                delta.cancelled += counts.superseded
                record(.cancelled, counts.superseded)
            }
            try db.add(delta, to: id)
            counts.fetchCursor = try moveCursor(page, id, db, counts)
            return .committed(counts)
        }
    }

    /// Whether the account's interest in the stream is the same as when `interests` was read.
    func isWanted(_ stream: StreamKey, _ interests: Interests?, _ db: Session) throws -> Bool {
        try db.holds(interests, of: stream.account, stars: starredPolls.contains(stream.poll))
    }

    private func insert(
        _ page: PageCommit,
        _ id: Int64,
        _ fetch: Int64?,
        _ db: Session,
        _ snapshots: inout PlanSnapshots,
        _ counts: inout PageCommitCounts
    ) throws {
        let insert = try db.statement(
            """
            INSERT INTO notification_outbox
                (stream_id, jwt_id, plan_id, name, origin, state, priority, run_id, created_at, finished_at,
                changed_fields, fetch_id, is_offer)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stream_id, jwt_id) DO NOTHING
            """
        )
        let announced = page.disposition == .announce
        let origin = page.disposition == .bootstrap ? "bootstrap" : "poll"
        let state = announced ? OutboxState.pending.rawValue : OutboxState.suppressed.rawValue
        let finished: Int64? = announced ? nil : page.now.milliseconds
        let account = db.key(page.stream.account)
        var check = SuppressionCheck(page)
        var room = page.room
        for fetched in page.changes {
            let change = fetched.change
            counts.handled += 1
            if !announced || room > 0 {
                let difference = try fetched.details.flatMap { details in
                    try snapshots.difference(details, of: change, db) ?? fetched.claimedChanges.map(FieldChange.stored)
                }
                let row = Session.outboxRow(id, change.id)
                let inserted = try insert.changed([
                    id, change.id.rawValue, try db.sealed(change.plan, .outboxPlan, of: account, row: row),
                    try db.sealed(change.name, .outboxName, of: account, row: row), origin, state, page.priority,
                    page.runID, page.now.milliseconds, finished,
                    try db.sealed(difference, .outboxChanges, of: account, row: row), fetch, change.isOffer,
                ])
                if inserted == 1 {
                    counts.inserted += 1
                    if announced {
                        if let reason = try check.reason(for: fetched, db) {
                            try db.suppress(change.id, of: id, reason, page.now)
                            counts.suppressed += 1
                        } else {
                            room -= 1
                        }
                    }
                    counts.lastHandled = change.id
                    if let previous = fetched.previous, announced,
                        try snapshots.lacks(previous, before: change, of: id, db)
                    {
                        counts.unseen += 1
                    }
                    try snapshots.keep(fetched, db)
                    continue
                }
            }
            let meeting = try meet(fetched, page, id, fetch, hasRoom: room > 0, &check, db)
            if meeting == .outOfRoom {
                counts.outOfRoom = true
                counts.handled -= 1
                return
            }
            if meeting == .settled || meeting == .settledCancelled { counts.settled += 1 }
            if meeting == .settledCancelled { counts.settledCancelled += 1 }
            if meeting == .refetched || meeting == .reopened {
                counts.refetched += 1
                room -= 1
            }
            if meeting == .reopened {
                counts.reopened += 1
                try snapshots.keep(fetched, db)
            }
            counts.duplicates += 1
            counts.lastHandled = change.id
        }
    }

    /// The effect of a change that was not inserted.
    private enum Meeting {
        case known
        /// A tombstone is pending again.
        case refetched
        /// A cancelled row is pending again.
        case reopened
        /// A tombstone is finished, because another poll has announced the change.
        case settled
        /// A cancelled row is finished for the same reason.
        case settledCancelled
        /// The change needs room, and there is none.
        case outOfRoom
    }

    /// Handles a change whose row exists, or that has no room.
    private func meet(
        _ fetched: FetchedChange,
        _ page: PageCommit,
        _ id: Int64,
        _ fetch: Int64?,
        hasRoom: Bool,
        _ check: inout SuppressionCheck,
        _ db: Session
    ) throws -> Meeting {
        let change = fetched.change
        let row = try db.row(
            """
            SELECT state = 'evicted' AS is_tombstone, \(Schema.isOpenAgain) AS is_cancelled FROM notification_outbox WHERE stream_id = ? AND jwt_id = ?
            """,
            [id, change.id.rawValue]
        )
        guard let row else { return .outOfRoom }
        let (isTombstone, isCancelled): (Bool, Bool) = (try row["is_tombstone"], try row["is_cancelled"])
        guard page.disposition == .announce, isTombstone || isCancelled else { return .known }
        if let reason = try check.reason(for: fetched, db) {
            try db.suppress(change.id, of: id, reason, page.now)
            return isCancelled ? .settledCancelled : .settled
        }
        guard hasRoom else { return .outOfRoom }
        let (account, place) = (db.key(page.stream.account), Session.outboxRow(id, change.id))
        try db.run(
            """
            UPDATE notification_outbox SET state = 'pending', finished_at = NULL, plan_id = ?, name = ?, is_offer = ?,
                run_id = ?, fetch_id = ?, reason = NULL, created_at = CASE state WHEN 'cancelled' THEN ? ELSE created_at END
            WHERE stream_id = ? AND jwt_id = ?
            """,
            [
                try db.sealed(change.plan, .outboxPlan, of: account, row: place),
                try db.sealed(change.name, .outboxName, of: account, row: place), change.isOffer, page.runID, fetch,
                page.now.milliseconds, id, change.id.rawValue,
            ]
        )
        return isCancelled ? .reopened : .refetched
    }

    private func supersede(
        _ walk: PageCommit.CompletedWalk,
        _ id: Int64,
        _ db: Session,
        _ now: Timestamp
    ) throws -> Int {
        try db.changed(
            """
            UPDATE notification_outbox SET state = 'cancelled', finished_at = ?
            WHERE state = 'evicted' AND stream_id = ? AND jwt_id > ? AND jwt_id <= ? AND finished_at < ?
            """,
            [
                now.milliseconds, id, walk.after?.rawValue ?? "", walk.through.rawValue, walk.startedAt.milliseconds,
            ]
        )
    }

    /// Raises the cursor as far as the page and the oldest tombstone allow.
    private func moveCursor(
        _ page: PageCommit,
        _ id: Int64,
        _ db: Session,
        _ counts: PageCommitCounts
    ) throws -> JWTID? {
        let stream = try db.row("SELECT fetch_cursor, bootstrapped_at FROM streams WHERE id = ?", [id])
        let current: JWTID? = try stream?["fetch_cursor"]
        if page.disposition != .bootstrap, try stream?["bootstrapped_at"] as Timestamp? == nil {
            // A stream that has run needs no bootstrap: with a later `bootstrap: latest` it would skip open changes.
            try db.run("UPDATE streams SET bootstrapped_at = ? WHERE id = ?", [page.now.milliseconds, id])
        }
        var last = counts.lastHandled
        if let passed = page.passed, !counts.outOfRoom, last?.precedes(passed) ?? true { last = passed }
        var target = page.cursor.target(last: last)
        if case .advance = page.cursor, counts.outOfRoom { target = nil }
        if let wanted = target, let limit = try db.tombstoneFloor(id), limit.precedes(wanted) == true {
            target = limit
        }
        if let wanted = target, let current, current.precedes(wanted) != true { target = nil }
        if let target {
            try db.run("UPDATE streams SET fetch_cursor = ? WHERE id = ?", [target.rawValue, id])
        }
        switch counts.outOfRoom ? page.walkWithoutRoom(lastHandled: counts.lastHandled) : page.walk {
        case .keep: break
        case .save(let walk):
            try db.run(
                "UPDATE streams SET walk_top = ?, walk_before = ?, walk_after = ? WHERE id = ?",
                [walk.top.rawValue, walk.before.rawValue, walk.after?.rawValue, id]
            )
        case .clear:
            try db.run(
                "UPDATE streams SET walk_top = NULL, walk_before = NULL, walk_after = NULL WHERE id = ?",
                [id]
            )
        }
        return target ?? current
    }
}

extension PageCommit {
    /// The walk after a page that only partly found room. The rest must be fetched again.
    fileprivate func walkWithoutRoom(lastHandled: JWTID?) -> Walk {
        guard let interrupted, let lastHandled else { return .keep }
        return .save(OpenWalk(top: interrupted.top, before: lastHandled, after: interrupted.after))
    }
}

extension Session {
    /// A cursor from which the server sends the stream's oldest tombstone again; `nil` if there is none.
    func tombstoneFloor(_ stream: Int64) throws -> JWTID? {
        let oldest: JWTID? = try value(
            "SELECT min(jwt_id) FROM notification_outbox WHERE state = 'evicted' AND stream_id = ?",
            [stream]
        )
        return oldest?.cursorBefore
    }
}
