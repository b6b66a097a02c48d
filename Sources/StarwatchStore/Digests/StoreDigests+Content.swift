package import StarwatchCore

/// The content of digests: fetched from a source, or found by a poll.
extension StoreDigests {
    /// The newest stored content of a source; `nil` if there is none, or if it does not open. A wrong clock can have set
    /// its time.
    package func content(source: String, account: DID) async throws(StoreError) -> StoredContent? {
        try await store.direct(.read) { db in
            try db.row(
                """
                SELECT payload_json, fetched_at, coalesce(validated_at, fetched_at) AS validated_at, etag, slot_id
                FROM notif_contents
                WHERE account = ? AND source = ? ORDER BY id DESC LIMIT 1
                """,
                [db.key(account), source]
            ).flatMap { row in
                let place = DigestOccurrence.row(slot: try row["slot_id"], time: try row["fetched_at"])
                let payload = try ifReadable {
                    try db.opened(row["payload_json"], .digestContent, row: place) as String
                }
                guard let payload else { return nil }
                // Without it the next fetch is a full one.
                let etag = try ifReadable {
                    try db.opened(row["etag"] as String?, .digestETag, row: place) as String?
                }
                return StoredContent(payload: payload, validatedAt: try row["validated_at"], etag: etag ?? nil)
            }
        }
    }

    /// The changes of a stream that were or will be announced, the latest identifier first.
    ///
    /// - Parameters:
    ///   - row: Only changes stored after this row; `nil` for those stored after `since`.
    ///   - since: A time by the server's clock.
    /// - Returns: The changes, and the id of the newest outbox row.
    package func changesFound(
        in stream: StreamKey,
        after row: Int64?,
        since: Timestamp
    ) async throws(StoreError) -> (changes: [Change], last: Int64) {
        try await store.direct(.read) { db in
            let last: Int64 = try db.value("SELECT max(id) FROM notification_outbox") ?? 0
            let found = try db.all(
                """
                SELECT o.plan_id, o.name, o.stream_id, o.jwt_id, o.is_offer, o.is_edition, o.fulfills_offer, o.details
                FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
                WHERE s.account = ?1 AND s.server = ?2 AND s.poll = ?3
                    AND CASE WHEN ?5 IS NULL THEN o.created_at > ?4 ELSE o.id > ?5 END
                    AND (o.state NOT IN ('cancelled', 'suppressed') OR o.reason = '\(RowReason.announced.rawValue)')
                ORDER BY o.jwt_id DESC
                """,
                [db.key(stream.account), stream.server, stream.poll.rawValue, since.milliseconds, row]
            ) { row in
                if let change = try ifReadable({ try db.outbox.change(row, of: row["stream_id"]) }) { return change }
                // One that does not open counts as a change of a project without a name.
                let id: JWTID = try row["jwt_id"]
                return Change(id: id, plan: id.rawValue, name: nil)
            }
            return (found, last)
        }
    }

    /// Stores the result of a fetch: the content, and the new state of the occurrence that it was for.
    ///
    /// - Parameters:
    ///   - result: `nil` for a fetch that was cancelled, which the next pass makes again.
    ///   - occurrence: The occurrence that the fetch was for; `nil` for a fetch of content only.
    ///   - now: The time of the answer, by the clock of schedules.
    ///   - events: The callback events to queue.
    /// - Returns: The number of events dropped for lack of room; `nil` if another identity is active and nothing was
    ///   stored.
    package func finishPrefetch(
        _ result: PrefetchResult?,
        slot: String,
        source: String,
        occurrence: DigestOccurrence?,
        of account: DID,
        generation: Int,
        now: Timestamp,
        events: [EventDraft] = []
    ) async throws(StoreError) -> Int? {
        // Losing the lease cancels it.
        try await store.write(.digest, of: account, hasLease: result != nil) { db in
            guard try db.identity.isCurrent(account, generation: generation) else { return nil }
            switch result {
            case .fetched(let payload, let etag):
                let place = DigestOccurrence.row(slot: slot, time: now)
                let content = try db.inserted(
                    """
                    INSERT INTO notif_contents
                        (account, slot_id, payload_json, fetched_at, etag, source, validated_at)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?4)
                    ON CONFLICT (account, slot_id, fetched_at) DO UPDATE SET payload_json = excluded.payload_json,
                        etag = excluded.etag, source = excluded.source, validated_at = excluded.validated_at
                    RETURNING id
                    """,
                    [
                        db.key(account), slot,
                        try db.sealed(payload, .digestContent, of: db.key(account), row: place),
                        now.milliseconds,
                        try db.sealed(etag, .digestETag, of: db.key(account), row: place), source,
                    ]
                )
                // Older content is not needed, because armed occurrences have their text.
                try db.run(
                    "DELETE FROM notif_contents WHERE account = ? AND source = ? AND id <> ?",
                    [db.key(account), source, content]
                )
            case .notModified:
                try db.run(
                    """
                    UPDATE notif_contents SET validated_at = ?1 WHERE id = (SELECT id FROM notif_contents
                        WHERE account = ?2 AND source = ?3 ORDER BY id DESC LIMIT 1)
                    """,
                    [now.milliseconds, db.key(account), source]
                )
            case .failed, nil: break
            }
            if let occurrence {
                let end = result.map { $0 == .failed ? DigestRow.Prefetch.failed : .succeeded } ?? .none
                try db.run(
                    "UPDATE notif_deliveries SET prefetch = ?4 WHERE account = ?1 AND slot_id = ?2 AND fire_at = ?3",
                    occurrence.key(of: account, in: db) + [end.rawValue]
                )
            }
            return try db.digests.enqueue(events, now)
        }
    }
}
