import StarwatchCore

extension NotificationRows {
    /// Makes pending rows dead that do not open, so that the others can be delivered.
    func setAside(_ rows: [Int64], of stream: Int64, _ now: Timestamp) throws {
        let dead = try db.changed(
            """
            UPDATE notification_outbox SET state = 'dead', finished_at = ?, reason = ?
            WHERE +state = 'pending' AND id IN (SELECT value FROM json_each(?))
            """,
            [now.milliseconds, RowReason.unreadable.rawValue, jsonArray(rows)]
        )
        try db.ledger.add(dead, as: \.dead, to: stream)
        db.context.record(.dead, dead)
        db.context.unreadable += dead
    }

    /// Closes an open notification whose text does not open.
    ///
    /// If no sink has it, a new notification announces its rows, and its notice is raised again. Otherwise its other
    /// sinks are given up, because a new notification would reach the first ones twice. A digest or a repetition without
    /// its text cannot be made again.
    func setAside(notification id: Int64, of stream: Int64, _ now: Timestamp) throws {
        db.context.unreadable += 1
        // Another notification brings its members to the sink.
        try db.run(
            """
            UPDATE deliveries SET carried_by = NULL WHERE state = 'pending' AND carried_by =
                (SELECT token FROM notifications WHERE id = ?)
            """,
            [id]
        )
        let isTaken = try db.deliveries.list(of: id).contains { $0.state == .ok } || isCarried(id)
        if !isTaken, try makesAnew(id, of: stream, now) {
            try db.run(
                "UPDATE deliveries SET state = 'cancelled', updated_at = ? WHERE state = 'pending' AND notification_id = ?",
                [now.milliseconds, id]
            )
            try db.run(
                "UPDATE notifications SET state = 'released', finished_at = ? WHERE id = ?",
                [now.milliseconds, id]
            )
            return
        }
        try db.run(
            """
            UPDATE deliveries SET state = 'given_up', leased_until = NULL, updated_at = ?
            WHERE state = 'pending' AND notification_id = ? AND carried_by IS NULL
            """,
            [now.milliseconds, id]
        )
        _ = try db.deliveries.settle(id, stream, now)
        try db.run(
            "UPDATE notification_outbox SET reason = ? WHERE state = 'dead' AND stream_id = ? AND notification_id = ?",
            [RowReason.unreadable.rawValue, stream, id]
        )
    }

    /// Whether another notification brings this one to a sink.
    private func isCarried(_ notification: Int64) throws -> Bool {
        let sql = "SELECT 1 FROM deliveries WHERE notification_id = ? AND state = 'pending' AND carried_by IS NOT NULL"
        return try db.row(sql, [notification]) != nil
    }

    /// Sets aside every open notification that does not open.
    func setAsideAll(_ now: Timestamp) throws {
        let open: [(id: Int64, stream: Int64, opens: Bool)] = try db.all(
            "SELECT id, stream_id, token, title, body, payload FROM notifications WHERE state = 'open'"
        ) { row in (try row["id"], try row["stream_id"], try ifReadable { try content(row) } != nil) }
        for (id, stream, opens) in open where !opens { try setAside(notification: id, of: stream, now) }
    }

    /// Whether something announces the content of a notification again: its rows are pending again, or its notice is to
    /// be raised again.
    func makesAnew(_ notification: Int64, of stream: Int64, _ now: Timestamp) throws -> Bool {
        let rows = try db.formerStates.release(claimedIn: notification, of: stream, now)
        let stale = try db.changed("DELETE FROM staleness_notices WHERE notification_id = ?", [notification])
        let features = try db.changed(
            "UPDATE feature_notices SET finished_at = NULL WHERE token = (SELECT token FROM notifications WHERE id = ?)",
            [notification]
        )
        // The new notification has the same token.
        if features > 0 { try db.run("DELETE FROM notifications WHERE id = ?", [notification]) }
        return rows + stale + features > 0
    }
}
