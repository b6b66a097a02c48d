import GRDB
package import StarwatchCore

extension Store {
    /// Stores the result of an attempt, and settles the notification if no sink is due.
    ///
    /// - Parameters:
    ///   - reason: The reason for a failed attempt. Only an attempt replaces the stored one.
    ///   - maxRetries: The number of rejections after which a sink is given up; at least 1.
    /// - Returns: ``DeliveryResult/stale`` if the ticket's lease has ended.
    package func recordDelivery(
        _ ticket: DeliveryTicket,
        _ outcome: DeliveryOutcome,
        reason: FailureReason? = nil,
        now: Timestamp,
        maxRetries: Int
    ) throws(StoreError) -> DeliveryResult {
        try write(.delivery) { db in
            guard
                let open = try db.row(
                    "SELECT id, stream_id FROM notifications WHERE token = ? AND state = 'open'",
                    [ticket.notification]
                )
            else { return .stale }
            let id: Int64 = open[0]
            let stream: Int64 = open[1]
            let next: Timestamp
            let state: SinkStatus.State
            var rejections = ticket.rejections
            var attempts = 1
            switch outcome {
            case .ok: (state, next) = (.ok, now)
            case .gone: (state, next) = (.gone, now)
            case .unavailable(let at): (state, next) = (.pending, at)
            case .postponed(let until): (state, next, attempts) = (.pending, until, 0)
            case .rejected(let at):
                rejections += 1
                (state, next) = (rejections >= maxRetries ? .rejected : .pending, at)
            }
            let recorded = try db.changed(
                """
                UPDATE deliveries SET state = ?, leased_until = NULL, attempts = attempts + ?, rejections = ?,
                    next_attempt_at = ?, updated_at = ?, reason = iif(?, ?, reason)
                WHERE notification_id = ? AND sink = ? AND state = 'pending' AND lease = ?
                """,
                [
                    state.rawValue, attempts, rejections, next.milliseconds, now.milliseconds, attempts > 0,
                    reason?.description, id, ticket.sink, ticket.lease,
                ]
            )
            guard recorded == 1 else { return .stale }
            if case .rejected = outcome {
                try db.run(
                    """
                    UPDATE notification_outbox SET retry_count = max(retry_count, ?)
                    WHERE state = 'claimed' AND stream_id = ? AND notification_id = ?
                    """,
                    [rejections, stream, id]
                )
            }
            return try settle(id, stream, db, now)
        }
    }

    /// Removes sinks that are no longer configured from all open notifications, at start and after a reload.
    ///
    /// - Returns: The results of the notifications that this settles.
    package func retainSinks(_ names: Set<String>, now: Timestamp) throws(StoreError) -> [DeliveryResult] {
        try write(.delivery) { db in
            var affected: [(Int64, Int64, String)] = []
            let rows = try db.rows(
                """
                SELECT n.id, n.stream_id, d.sink FROM notifications n JOIN deliveries d ON d.notification_id = n.id
                WHERE n.state = 'open' AND d.state = 'pending' ORDER BY n.id
                """
            )
            while let row = try rows.next() {
                if !names.contains(row[2]) { affected.append((row[0], row[1], row[2])) }
            }
            var settled: [Int64: DeliveryResult] = [:]
            for (id, stream, sink) in affected {
                try db.run(
                    "UPDATE deliveries SET state = 'gone', updated_at = ? WHERE notification_id = ? AND sink = ?",
                    [now.milliseconds, id, sink]
                )
                settled[id] = try settle(id, stream, db, now)
            }
            return settled.sorted { $0.key < $1.key }.map(\.value).filter { $0 != .waiting }
        }
    }

    /// Moves the rows of a notification that is due at no sink to their next state.
    func settle(_ id: Int64, _ stream: Int64, _ db: Database, _ now: Timestamp) throws -> DeliveryResult {
        var states: Set<SinkStatus.State> = []
        let deliveries = try db.rows("SELECT DISTINCT state FROM deliveries WHERE notification_id = ?", [id])
        while let row = try deliveries.next() { states.insert(try row.word(0)) }
        if states.contains(.pending) { return .waiting }
        var delta = Ledger()
        let result: DeliveryResult
        let closed: StoredNotification.State
        // A sink that accepted it does not compensate for one that rejected it: the operator can retry the rejecting
        // sink.
        let dead =
            states.contains(.rejected)
            ? try moved("state = 'dead', finished_at = ?1", [now.milliseconds, stream, id], db) : []
        if !dead.isEmpty || states.contains(.rejected) && !states.contains(.ok) {
            delta.dead = dead.count
            record(.dead, dead.count)
            (result, closed) = (.dead(dead), .dead)
        } else if states.contains(.ok) {
            let ids = try moved(
                "state = 'delivered', delivered_at = ?1",
                [now.milliseconds, stream, id],
                db
            )
            delta.delivered = ids.count
            record(.delivered, ids.count)
            (result, closed) = (.delivered(ids), .delivered)
        } else {
            let ids = try moved(
                "state = iif(?1 > 0, 'pending', state), notification_id = NULL",
                [1, stream, id],
                db
            )
            // The notification has no row to announce again, so it waits for other sinks itself.
            if ids.isEmpty, try db.isToBeReaddressed(id) { return .waiting }
            (result, closed) = (.released(rows: ids.count), .released)
        }
        try db.add(delta, to: stream)
        try db.run(
            "UPDATE notifications SET state = ?, finished_at = ? WHERE id = ?",
            [closed.rawValue, now.milliseconds, id]
        )
        return result
    }

    private func moved(_ assignment: String, _ arguments: StatementArguments, _ db: Database) throws -> [JWTID] {
        var ids: [JWTID] = []
        let rows = try db.rows(
            """
            UPDATE notification_outbox SET \(assignment)
            WHERE state = 'claimed' AND stream_id = ?2 AND notification_id = ?3 RETURNING jwt_id
            """,
            arguments
        )
        while let row = try rows.next() { ids.append(try row.jwtID(0)) }
        return ids
    }
}

extension Database {
    /// The state of a notification at every sink, by its row id.
    func deliveries(of notification: Int64?) throws -> [SinkStatus] {
        guard let notification else { return [] }
        var found: [SinkStatus] = []
        let rows = try rows(
            """
            SELECT sink, state, attempts, rejections, next_attempt_at, updated_at, reason FROM deliveries
            WHERE notification_id = ? ORDER BY sink
            """,
            [notification]
        )
        while let row = try rows.next() {
            found.append(
                SinkStatus(
                    sink: row[0],
                    state: try row.word(1),
                    attempts: row[2],
                    rejections: row[3],
                    nextAttemptAt: row.time(4),
                    updatedAt: row.time(5),
                    reason: (row[6] as String?).flatMap { FailureReason($0) }
                )
            )
        }
        return found
    }
}
