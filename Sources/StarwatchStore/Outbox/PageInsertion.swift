import StarwatchCore

extension StoreOutbox {
    /// Stores a page: new rows, ledger, fetch cursor and walk, in one transaction.
    ///
    /// Stops before the first item without room. The remaining items are not counted and stay on the server.
    ///
    /// - Returns: `nil` if nothing was written: the identity or its interests changed since the cycle began, or another poll
    ///   detected a change of the server's dialect.
    package func commit(page: PageCommit) async throws(StoreError) -> PageCommitCounts? {
        try await store.write(.commit, of: page.stream) { db, id in
            guard try db.identity.isCurrent(page.stream.account, generation: page.expectedGeneration),
                try db.streams.understands(page.idKind, of: id),
                try db.stars.isWanted(page.stream, page.expectedInterests)
            else { return nil }
            var insertion = try PageInsertion(page, id, db)
            return try insertion.run()
        }
    }
}

/// The storing of one page, in the transaction of its commit.
struct PageInsertion {
    private let page: PageCommit
    private let stream: Int64
    private let db: Session
    /// The id of the stored page; `nil` if its request is not known.
    private let fetch: Int64?
    private var snapshots: PlanSnapshots
    /// The streams of the overlapping polls, read at the first new row.
    private var others: [Int64]?
    private var room: Int
    private var counts = PageCommitCounts()

    /// - Parameter known: The number of items that are not among the page's changes, because they are known.
    init(_ page: PageCommit, _ stream: Int64, _ db: Session, known: Int = 0) throws {
        (self.page, self.stream, self.db) = (page, stream, db)
        fetch = try page.origin == nil ? nil : db.outbox.nextPageID()
        snapshots = PlanSnapshots(page.stream, db)
        room = page.room
        (counts.handled, counts.duplicates) = (known, known)
    }

    mutating func run() throws -> PageCommitCounts {
        try insert()
        // A page without new rows has no story.
        if let fetch, let origin = page.origin, counts.inserted + counts.refetched > 0 {
            try db.outbox.store(origin, fetch, runID: page.runID)
        }
        for fetched in page.seenOnly { try snapshots.keep(fetched, db) }
        try snapshots.store(db)
        var delta = Ledger()
        if page.disposition != .bootstrap {
            counts.quarantined = try db.outbox.quarantine(page, of: stream)
            delta = book()
        }
        db.context.record(.refetched, counts.refetched)
        delta.cancelled -= counts.reopened + counts.settledCancelled
        if let completed = page.completed, !counts.outOfRoom {
            try supersede(completed)
            delta.cancelled += counts.superseded
            db.context.record(.cancelled, counts.superseded)
        }
        try db.ledger.add(delta, to: stream)
        counts.fetchCursor = try moveCursor()
        try moveWalk()
        snapshots.keepForNextPage(db)
        return counts
    }

    private func book() -> Ledger {
        var delta = Ledger()
        delta.new = counts.inserted
        delta.suppressed = page.disposition == .suppress ? counts.inserted : counts.suppressed + counts.settled
        delta.duplicate = counts.duplicates
        delta.rejected = page.rejectedCount
        // Counted independently of the other counters, so that the imbalance metric can compare them.
        delta.fetched = counts.handled + page.rejectedCount
        db.context.record(.inserted, counts.inserted)
        db.context.record(.duplicate, counts.duplicates)
        db.context.record(.rejected, page.rejectedCount)
        db.context.record(.suppressed, delta.suppressed)
        return delta
    }

    private mutating func insert() throws {
        let statement = try db.statement(
            """
            INSERT INTO notification_outbox
                (stream_id, jwt_id, plan_id, name, origin, state, priority, run_id, created_at, finished_at,
                changed_fields, fetch_id, is_offer, is_edition, fulfills_offer, details)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stream_id, jwt_id) DO NOTHING
            """
        )
        let announced = page.disposition == .announce
        let origin = page.disposition == .bootstrap ? "bootstrap" : "poll"
        let state = announced ? OutboxState.pending.rawValue : OutboxState.suppressed.rawValue
        let finished: Int64? = announced ? nil : page.now.milliseconds
        let account = db.key(page.stream.account)
        for item in page.changes {
            let fetched = try snapshots.resolved(item, db)
            let change = fetched.change
            counts.handled += 1
            if !announced || room > 0 {
                let difference = try fetched.details.flatMap { details in
                    let seen = try snapshots.difference(details, of: change, db)
                    return FieldChange.merged(seen: seen, claimed: fetched.claimedChanges).map(FieldChange.stored)
                }
                let row = db.outbox.place(stream, change.id)
                let name = try snapshots.name(for: fetched, db)
                let inserted = try statement.changed([
                    stream, change.id.rawValue, try db.sealed(change.plan, .outboxPlan, of: account, row: row),
                    try db.sealed(name, .outboxName, of: account, row: row), origin, state, page.priority,
                    page.runID, page.now.milliseconds, finished,
                    try db.sealed(difference, .outboxChanges, of: account, row: row), fetch, change.isOffer,
                    change.isEdition, change.fulfillsOffer,
                    try db.sealed(change.details?.stored, .outboxDetails, of: account, row: row),
                ])
                if inserted == 1 {
                    try count(fetched)
                    continue
                }
            }
            guard try meet(fetched) else {
                counts.outOfRoom = true
                counts.handled -= 1
                return
            }
            counts.duplicates += 1
            counts.lastHandled = change.id
        }
    }

    /// Decides whether a new row is announced.
    private mutating func count(_ fetched: FetchedChange) throws {
        let change = fetched.change
        counts.inserted += 1
        counts.lastHandled = change.id
        if page.disposition == .announce {
            if let reason = try suppression(of: fetched) {
                try db.outbox.suppress(change.id, of: stream, reason, page.now)
                counts.suppressed += 1
            } else {
                room -= 1
            }
            if let previous = fetched.previous, try snapshots.lacks(previous, before: change, of: stream, db) {
                counts.unseen += 1
            }
        }
        try snapshots.keep(fetched, db)
    }

    /// The reason why a change is not announced; `nil` if it is.
    private mutating func suppression(of change: FetchedChange) throws -> RowReason? {
        if change.isOwn { return .own }
        let found =
            try others
            ?? page.overlapping.filter { $0 != page.stream.poll }.compactMap { poll in
                let (account, server) = (page.stream.account, page.stream.server)
                return try db.streams.knownID(of: StreamKey(account: account, server: server, poll: poll))
            }
        others = found
        return try found.contains { try db.outbox.announces(change.id, in: $0) } ? .announced : nil
    }

    /// Handles a change whose row exists, or that has no room. A tombstone or a cancelled row becomes pending again, or ends
    /// because another poll has announced the change.
    ///
    /// - Returns: `false` if the change needs room, and there is none.
    private mutating func meet(_ fetched: FetchedChange) throws -> Bool {
        let change = fetched.change
        let row = try db.row(
            """
            SELECT state = 'evicted' AS is_tombstone, \(Schema.isOpenAgain) AS is_cancelled FROM notification_outbox
            WHERE stream_id = ? AND jwt_id = ?
            """,
            [stream, change.id.rawValue]
        )
        guard let row else { return false }
        let (isTombstone, isCancelled): (Bool, Bool) = (try row["is_tombstone"], try row["is_cancelled"])
        guard page.disposition == .announce, isTombstone || isCancelled else { return true }
        if let reason = try suppression(of: fetched) {
            try keepFormer(change.id, as: .suppressed)
            try db.outbox.suppress(change.id, of: stream, reason, page.now)
            counts.settled += 1
            if isCancelled { counts.settledCancelled += 1 }
            return true
        }
        guard room > 0 else { return false }
        try keepFormer(change.id, as: .returned)
        let name = try snapshots.name(for: fetched, db)
        try reopen(change, name: name)
        room -= 1
        counts.refetched += 1
        if isCancelled {
            counts.reopened += 1
            try snapshots.keep(fetched, db)
        }
        return true
    }

    private func keepFormer(_ id: JWTID, as step: FormerState.Departure) throws {
        try db.formerStates.keep(rows: "stream_id = ?3 AND jwt_id = ?4", [stream, id.rawValue], as: step, page.now)
    }

    /// Makes a row pending again. Whether it is an edition stays as it was: the eviction has moved the cursor back, which the
    /// page compared it with.
    private func reopen(_ change: Change, name: String?) throws {
        let (account, place) = (db.key(page.stream.account), db.outbox.place(stream, change.id))
        try db.run(
            """
            UPDATE notification_outbox SET state = 'pending', finished_at = NULL, plan_id = ?, name = ?, is_offer = ?,
                fulfills_offer = ?, run_id = ?, fetch_id = ?, reason = NULL,
                created_at = CASE state WHEN 'cancelled' THEN ? ELSE created_at END
            WHERE stream_id = ? AND jwt_id = ?
            """,
            [
                try db.sealed(change.plan, .outboxPlan, of: account, row: place),
                try db.sealed(name, .outboxName, of: account, row: place), change.isOffer, change.fulfillsOffer,
                page.runID, fetch, page.now.milliseconds, stream, change.id.rawValue,
            ]
        )
    }

    private mutating func supersede(_ walk: PageCommit.CompletedWalk) throws {
        let condition = "state = 'evicted' AND stream_id = ?3 AND jwt_id > ?4 AND jwt_id <= ?5 AND finished_at < ?6"
        let arguments: SQLArguments = [
            stream, walk.after?.rawValue ?? "", walk.through.rawValue, walk.startedAt.milliseconds,
        ]
        // Usually there are none.
        guard try db.outbox.tombstoneFloor(stream) != nil else { return }
        let ended = try db.formerStates.change(
            rows: condition,
            arguments,
            as: .cancelled,
            to: "state = 'cancelled', finished_at = ?2",
            page.now
        ).map(\.id)
        (counts.superseded, counts.passedOn) = (ended.count, try db.outbox.passOn(ended, page.now))
    }

    /// Raises the cursor as far as the page and the oldest tombstone allow.
    private func moveCursor() throws -> JWTID? {
        let row = try db.row("SELECT fetch_cursor, bootstrapped_at FROM streams WHERE id = ?", [stream])
        let current: JWTID? = try row?["fetch_cursor"]
        if page.disposition != .bootstrap, try row?["bootstrapped_at"] as Timestamp? == nil {
            // A stream that has run needs no bootstrap: with a later `bootstrap: latest` it would skip open changes.
            try db.run("UPDATE streams SET bootstrapped_at = ? WHERE id = ?", [page.now.milliseconds, stream])
        }
        var last = counts.lastHandled
        if let passed = page.passed, !counts.outOfRoom, last?.precedes(passed) ?? true { last = passed }
        var target = page.cursor.target(last: last)
        if case .advance = page.cursor, counts.outOfRoom { target = nil }
        if let wanted = target, let limit = try db.outbox.tombstoneFloor(stream), limit.precedes(wanted) == true {
            target = limit
        }
        if let wanted = target, let current, current.precedes(wanted) != true { target = nil }
        if let target { try db.run("UPDATE streams SET fetch_cursor = ? WHERE id = ?", [target.rawValue, stream]) }
        return target ?? current
    }

    private func moveWalk() throws {
        switch counts.outOfRoom ? page.walkWithoutRoom(lastHandled: counts.lastHandled) : page.walk {
        case .keep: break
        case .save(let walk):
            try db.run(
                "UPDATE streams SET walk_top = ?, walk_before = ?, walk_after = ? WHERE id = ?",
                [walk.top.rawValue, walk.before.rawValue, walk.after?.rawValue, stream]
            )
        case .clear:
            try db.run(
                "UPDATE streams SET walk_top = NULL, walk_before = NULL, walk_after = NULL WHERE id = ?",
                [stream]
            )
        }
    }
}

extension PageCommit {
    /// The walk after a page that only partly found room. The rest must be fetched again.
    fileprivate func walkWithoutRoom(lastHandled: JWTID?) -> Walk {
        guard let interrupted, let lastHandled else { return .keep }
        return .save(OpenWalk(top: interrupted.top, before: lastHandled, after: interrupted.after))
    }
}
