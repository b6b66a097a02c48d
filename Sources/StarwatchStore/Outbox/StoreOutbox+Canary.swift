package import StarwatchCore

extension StoreOutbox {
    /// The synthetic changes of a stream.
    ///
    /// - Returns: The creation of the last one, by the server's clock; that of the last one that every sink has accepted and that
    ///   is acknowledged, if it is kept; and whether one waits for delivery or for its acknowledgement.
    package func canary(
        of stream: StreamKey
    ) async throws(StoreError) -> (lastSent: Timestamp?, lastArrival: Timestamp?, isUnderway: Bool) {
        try await store.direct(.read) { db in
            let row = try db.row(
                """
                SELECT max(created_at) AS sent, max(CASE WHEN state = 'acknowledged' THEN created_at END) AS arrived,
                    count(*) FILTER (WHERE state IN ('pending', 'claimed', 'delivered')) AS underway
                FROM notification_outbox
                WHERE stream_id = (SELECT id FROM streams WHERE account = ? AND server = ? AND poll = ?)
                """,
                [db.key(stream.account), stream.server, stream.poll.rawValue]
            )
            guard let row else { throw StoreError.damaged }
            return (try row["sent"], try row["arrived"], try row["underway"] as Int > 0)
        }
    }

    /// Cancels the synthetic changes that wait, because no sink takes them any more.
    package func withdrawCanaries(of stream: StreamKey, now: Timestamp) async throws(StoreError) {
        try await store.write(.edit, of: stream) { db, id in
            let rows = try db.changed(
                """
                UPDATE notification_outbox SET state = 'cancelled', finished_at = ?
                WHERE stream_id = ? AND state = 'pending'
                """,
                [now.milliseconds, id]
            )
            try db.ledger.add(rows, as: \.cancelled, to: id)
            db.context.record(.cancelled, rows)
        }
    }
}
