package import StarwatchCore

/// The synthetic changes of a stream.
package struct CanaryState: Sendable, Hashable {
    /// The creation of the last one, by the server's clock; `nil` before the first one.
    package let lastSent: Timestamp?
    /// The creation of the last one that every sink has accepted and that is acknowledged; `nil` if none is kept.
    package let lastArrival: Timestamp?
    /// Whether one waits for delivery or for its acknowledgement.
    package let isUnderway: Bool
}

extension StoreOutbox {
    package func canary(of stream: StreamKey) async throws(StoreError) -> CanaryState {
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
            return CanaryState(
                lastSent: try row["sent"],
                lastArrival: try row["arrived"],
                isUnderway: try row["underway"] as Int > 0
            )
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
