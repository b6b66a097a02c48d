package import StarwatchCore

/// Rows to acknowledge in one request, under a key stored before the request.
package struct AckBatch: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    /// The idempotency key, the same for every attempt of this batch.
    package let key: String
    /// In ascending order.
    package let ids: [JWTID]
    /// The run that stored the last of them.
    package let runID: String
    /// The number of failed attempts, whatever the reason.
    package let attempts: Int
    /// The number of attempts that the server refused.
    package let refusals: Int
    /// The creation time. It is part of the request, which must not change under its key.
    package let createdAt: Timestamp
}

/// The number of rows acknowledged now, including suppressed ones; 0 if the batch was already closed.
package typealias AckCompletion = (acknowledged: Int, watermark: WatermarkOutcome)

/// The acknowledgements of changes, and the watermarks.
package struct StoreAcknowledgements: Sendable {
    let store: Store

    /// The batch to acknowledge now: the open batch with its key, or else a new one.
    ///
    /// A new batch takes delivered and suppressed rows, the lowest identifiers first. It never takes dead, cancelled or
    /// bootstrap rows.
    ///
    /// - Parameters:
    ///   - limit: The largest number of ids in a new batch.
    ///   - newKey: Returns the key of a new batch. Runs on the store's queue.
    /// - Returns: `nil` if there is nothing to acknowledge, the open batch is deferred past `now`, or another identity
    ///   is active.
    package func nextBatch(
        _ stream: StreamKey,
        limit: Int,
        now: Timestamp,
        newKey: @Sendable () -> String
    ) async throws(StoreError) -> AckBatch? {
        try await store.write(.acknowledge, of: stream) { db, id in
            guard try db.identity.isActive(stream.account) else { return nil }
            if let next = try db.acknowledgements.nextAt(id) {
                guard next <= now else { return nil }
                if let batch = try db.acknowledgements.batch(stream, id) { return batch }
                // Retention has deleted the rows of this old batch, so nothing is left to acknowledge.
                try db.run("DELETE FROM ack_batches WHERE stream_id = ?", [id])
            }
            let found = try db.acknowledgements.acknowledgeable(of: id, limit: limit)
            if !found.foreign.isEmpty {
                let count = try db.acknowledgements.acknowledge(
                    jsonArray(found.foreign),
                    of: found.foreign.count,
                    now
                )
                _ = try db.acknowledgements.acknowledged(count, of: stream, id, now)
            }
            guard !found.rows.isEmpty else { return nil }
            try db.run(
                """
                INSERT INTO ack_batches (stream_id, idempotency_key, row_ids, next_attempt_at, created_at)
                VALUES (?1, ?2, ?3, ?4, ?4)
                """,
                [id, newKey(), jsonArray(found.rows), now.milliseconds]
            )
            return try db.acknowledgements.batch(stream, id)
        }
    }

    /// Marks the batch as acknowledged and advances the watermark, in one transaction.
    ///
    /// - Parameter requestID: `X-Request-ID` of the request that acknowledged it.
    package func complete(
        _ batch: AckBatch,
        requestID: String? = nil,
        now: Timestamp
    ) async throws(StoreError) -> AckCompletion {
        try await store.write(.acknowledge, of: batch.stream) { db, id in
            let stored: String? = try db.value(
                "SELECT row_ids FROM ack_batches WHERE id = ? AND stream_id = ?",
                [batch.id, id]
            )
            guard let list = stored else { return (0, .unchanged) }
            let count = try db.acknowledgements.acknowledge(
                list,
                of: batch.ids.count,
                requestID: requestID,
                now
            )
            try db.run("DELETE FROM ack_batches WHERE id = ?", [batch.id])
            return try db.acknowledgements.acknowledged(count, of: batch.stream, id, now)
        }
    }

    /// Defers a batch after a failed request. The batch keeps its ids and its key.
    ///
    /// - Parameters:
    ///   - isRefused: Whether the server refused the batch; `false` if the request did not reach it.
    ///   - isWait: Whether nothing failed, so that this is no attempt.
    ///   - newKey: The new key if the server knows the old one with another body; `nil` keeps the key.
    package func postpone(
        _ batch: AckBatch,
        until: Timestamp,
        isRefused: Bool = false,
        isWait: Bool = false,
        newKey: String? = nil
    ) async throws(StoreError) {
        try await store.direct(.acknowledge, of: batch.stream.account) { db in
            try db.run(
                """
                UPDATE ack_batches SET attempts = attempts + ?, refusals = refusals + ?, next_attempt_at = ?,
                    idempotency_key = coalesce(?, idempotency_key) WHERE id = ?
                """,
                [!isWait, isRefused, until.milliseconds, newKey, batch.id]
            )
        }
    }

    /// The time when the open batch is due; `nil` if there is none.
    package func nextAt(_ stream: StreamKey) async throws(StoreError) -> Timestamp? {
        try await store.direct(.read, of: stream) { db, id in try db.acknowledgements.nextAt(id) }
    }

    /// Reduces a batch that the server did not accept to its first half, with a new key and zero attempts. The
    /// other rows go into later batches.
    package func halve(_ batch: AckBatch, until: Timestamp, newKey: String) async throws(StoreError) {
        try await store.write(.acknowledge, of: batch.stream.account) { db in
            try db.run(
                """
                UPDATE ack_batches SET attempts = 0, refusals = 0, next_attempt_at = ?1, idempotency_key = ?2, row_ids =
                    (SELECT json_group_array(id) FROM (SELECT id FROM notification_outbox
                        WHERE id IN (SELECT value FROM json_each(row_ids)) ORDER BY jwt_id LIMIT ?3))
                WHERE id = ?4
                """,
                [until.milliseconds, newKey, batch.ids.count / 2, batch.id]
            )
        }
    }

    /// Acknowledges all delivered and suppressed rows locally, for a server without acknowledgement.
    ///
    /// Closes an open batch, because its request is no longer needed. Does nothing if another identity is active.
    package func completeLocally(_ stream: StreamKey, now: Timestamp) async throws(StoreError) -> AckCompletion {
        try await store.write(.acknowledge, of: stream) { db, id in
            guard try db.identity.isActive(stream.account) else {
                return (0, .unchanged)
            }
            let count = try db.acknowledgements.acknowledgeAll(of: id, now)
            try db.run("DELETE FROM ack_batches WHERE stream_id = ?", [id])
            return try db.acknowledgements.acknowledged(count, of: stream, id, now)
        }
    }
}

/// The acknowledgements and the watermarks, in one access.
struct AcknowledgementRows {
    let db: Session

    /// The time when the open batch of a stream is due; `nil` if there is none.
    func nextAt(_ stream: Int64) throws -> Timestamp? {
        try db.value("SELECT next_attempt_at FROM ack_batches WHERE stream_id = ?", [stream])
    }

    /// The open batch of a stream; `nil` if there is none, or if none of its rows exists.
    func batch(_ stream: StreamKey, _ id: Int64) throws -> AckBatch? {
        let open = try db.row(
            """
            SELECT id, idempotency_key, row_ids, attempts, created_at, refusals FROM ack_batches WHERE stream_id = ?
            """,
            [id]
        )
        guard let open else { return nil }
        let found: [(id: JWTID, runID: String)] = try db.all(
            """
            SELECT jwt_id, run_id FROM notification_outbox WHERE id IN (SELECT value FROM json_each(?))
            ORDER BY jwt_id
            """,
            [try open["row_ids"] as String]
        ) { (try $0["jwt_id"], try $0["run_id"]) }
        guard let last = found.last else { return nil }
        return AckBatch(
            id: try open["id"],
            stream: stream,
            key: try open["idempotency_key"],
            ids: found.map(\.id),
            runID: last.runID,
            attempts: try open["attempts"],
            refusals: try open["refusals"],
            createdAt: try open["created_at"]
        )
    }

    func acknowledged(_ count: Int, of stream: StreamKey, _ id: Int64, _ now: Timestamp) throws -> AckCompletion {
        guard count > 0 else { return (0, .unchanged) }
        try db.ledger.add(count, as: \.acknowledged, to: id)
        db.context.record(.acknowledged, count)
        return (count, try advance(stream, id, now))
    }

    /// The delivered and suppressed rows that are not acknowledged, the lowest identifiers first. One that another poll
    /// announces waits until that poll's row is delivered.
    ///
    /// `foreign` are rows from before the server changed its dialect. The server would not know their identifiers.
    func acknowledgeable(of stream: Int64, limit: Int) throws -> (rows: [Int64], foreign: [Int64]) {
        let dialect = try db.streams.dialect(of: stream)
        var found: (rows: [Int64], foreign: [Int64]) = ([], [])
        let rows = try db.rows(
            """
            SELECT id, jwt_id FROM (
                SELECT * FROM (SELECT id, jwt_id FROM notification_outbox
                    WHERE state = 'delivered' AND stream_id = ?1 ORDER BY jwt_id LIMIT ?2)
                UNION ALL
                SELECT * FROM (SELECT id, jwt_id FROM notification_outbox o
                    WHERE state = 'suppressed' AND acknowledged_at IS NULL AND origin = 'poll' AND stream_id = ?1
                        AND NOT \(OutboxRows.areCounted(in: "?1"))
                    ORDER BY jwt_id LIMIT ?2))
            ORDER BY jwt_id LIMIT ?2
            """,
            [stream, limit]
        )
        while let row = try rows.next() {
            let (id, change): (Int64, JWTID) = (try row["id"], try row["jwt_id"])
            if let dialect, change.kind != dialect.idKind { found.foreign.append(id) } else { found.rows.append(id) }
        }
        return found
    }

    /// Marks the delivered and suppressed rows of the list as acknowledged.
    ///
    /// - Returns: The number of rows.
    func acknowledge(_ list: String, of count: Int, requestID: String? = nil, _ now: Timestamp) throws -> Int {
        let rows = "id IN (SELECT value FROM json_each(?2))"
        return try acknowledge(rows, in: "+state", [now.milliseconds, list, requestID], atMost: count)
    }

    /// Marks all delivered and suppressed rows of a stream as acknowledged.
    ///
    /// - Returns: The number of rows.
    func acknowledgeAll(of stream: Int64, _ now: Timestamp) throws -> Int {
        try acknowledge("stream_id = ?2", in: "state", [now.milliseconds, stream, nil])
    }

    /// - Parameters:
    ///   - rows: The condition of the rows, of the argument `?2`. A fixed text, because the statements are cached.
    ///   - state: The expression of their state. With `+` no index of it is used.
    private func acknowledge(
        _ rows: String,
        in state: String,
        _ arguments: SQLArguments,
        atMost count: Int = .max
    ) throws -> Int {
        let delivered = try db.changed(
            """
            UPDATE notification_outbox SET state = 'acknowledged', acknowledged_at = ?1, finished_at = ?1,
                ack_request_id = ?3
            WHERE \(state) = 'delivered' AND \(rows)
            """,
            arguments
        )
        guard delivered < count else { return delivered }
        let suppressed = try db.changed(
            """
            UPDATE notification_outbox SET acknowledged_at = ?1, ack_request_id = ?3
            WHERE \(state) = 'suppressed' AND acknowledged_at IS NULL AND origin = 'poll' AND \(rows)
            """,
            arguments
        )
        return delivered + suppressed
    }
}
