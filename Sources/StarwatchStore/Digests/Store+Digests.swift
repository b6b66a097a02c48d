import GRDB
package import StarwatchCore

/// Digests are read-only: they never acknowledge and never touch an outbox row (C-054).
///
/// A fired digest becomes a notification without rows, in a stream of its own. The dispatcher delivers, retries and
/// cancels it like any other.
extension Store {
    /// The stored digests of an account: all open occurrences, and those due after `since`.
    package func digestState(of account: DID, since: Timestamp) throws(StoreError) -> DigestState {
        try direct(.read) { db in
            var found: [DigestState.Row] = []
            let rows = try db.rows(
                """
                SELECT d.digest, d.slot_id, d.fire_at, d.status, d.prefetch, d.text_kind, d.content_at, d.fingerprint,
                    d.fired_at, d.token, n.state, n.finished_at, d.error_code
                FROM notif_deliveries d LEFT JOIN notifications n ON n.token = d.token
                WHERE d.account = ?1 AND d.digest IS NOT NULL AND (d.status = 'scheduled' OR d.fire_at > ?2)
                ORDER BY d.fire_at, d.slot_id
                """,
                [account.rawValue, since.milliseconds]
            )
            while let row = try rows.next() { found.append(try row.digest()) }
            return DigestState(rows: found, armedThrough: try db.armedThrough())
        }
    }

    /// The newest stored content of a source; `nil` if there is none. A wrong clock can have set its time.
    package func digestContent(source: String, account: DID) throws(StoreError) -> StoredContent? {
        try direct(.read) { db in
            try db.row(
                """
                SELECT payload_json, fetched_at, coalesce(validated_at, fetched_at), etag FROM notif_contents
                WHERE account = ? AND source = ? ORDER BY id DESC LIMIT 1
                """,
                [account.rawValue, source]
            ).map { StoredContent(payload: $0[0], fetchedAt: $0.time(1), validatedAt: $0.time(2), etag: $0[3]) }
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
    ) throws(StoreError) -> (changes: [FoundChange], last: Int64) {
        try direct(.read) { db in
            let last: Int64 = try db.row("SELECT coalesce(max(id), 0) FROM notification_outbox")?[0] ?? 0
            var found: [FoundChange] = []
            let rows = try db.rows(
                """
                SELECT o.plan_id, o.name FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
                WHERE s.account = ?1 AND s.server = ?2 AND s.poll = ?3
                    AND CASE WHEN ?5 IS NULL THEN o.created_at > ?4 ELSE o.id > ?5 END
                    AND o.state NOT IN ('cancelled', 'suppressed')
                ORDER BY o.jwt_id DESC
                """,
                [stream.account.rawValue, stream.server, stream.poll.rawValue, since.milliseconds, row]
            )
            while let row = try rows.next() { found.append(FoundChange(plan: row[0], name: row[1])) }
            return (found, last)
        }
    }

    /// Applies changes to an account's digests.
    ///
    /// - Parameters:
    ///   - generation: The generation of the identity that the changes are for.
    ///   - now: The time by the clock of deliveries.
    /// - Returns: The number of events dropped for lack of room; `nil` if another identity is active and nothing was
    ///   changed.
    package func apply(
        _ changes: DigestChanges,
        of account: DID,
        generation: Int,
        server: String,
        now: Timestamp
    ) throws(StoreError) -> Int? {
        var streams: [DigestName: Int64] = [:]
        for digest in Set(changes.fired.map(\.occurrence.digest)) {
            streams[digest] = try streamID(StreamKey(account: account, server: server, poll: PollName(digest)))
        }
        // Counted as a claim, because a fired digest becomes due at sinks.
        return try write(changes.fired.isEmpty ? .digest : .claim) { db in
            guard try db.isCurrent(account, generation: generation) else { return nil }
            for occurrence in changes.dropped {
                try db.run(
                    "DELETE FROM notif_deliveries WHERE account = ? AND slot_id = ? AND fire_at = ? AND fired_at IS NULL",
                    occurrence.key(account)
                )
            }
            for arming in changes.armed { try db.arm(arming, account) }
            for firing in changes.fired { try db.fire(firing, account, streams, now) }
            for ending in changes.ended { try db.end(ending, account) }
            for occurrence in changes.fetching {
                try db.run(
                    "UPDATE notif_deliveries SET prefetch = 'started' WHERE account = ? AND slot_id = ? AND fire_at = ?",
                    occurrence.key(account)
                )
            }
            for (digest, time) in changes.armedThrough {
                try db.run(
                    "INSERT INTO notif_config (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
                    [DigestConfigurationKey.armedThrough + digest.rawValue, String(time.milliseconds)]
                )
            }
            return try db.enqueue(changes.events, now)
        }
    }

    /// Stores the result of a fetch: the content, and the new state of the occurrence that it was for.
    ///
    /// - Parameters:
    ///   - occurrence: The occurrence that the fetch was for; `nil` for a fetch of content only.
    ///   - now: The time of the answer, by the clock of schedules.
    ///   - events: The callback events to queue.
    /// - Returns: The number of events dropped for lack of room; `nil` if another identity is active and nothing was
    ///   stored.
    package func finishPrefetch(
        _ result: PrefetchResult,
        slot: String,
        source: String,
        occurrence: DigestOccurrence?,
        of account: DID,
        generation: Int,
        now: Timestamp,
        events: [EventDraft] = []
    ) throws(StoreError) -> Int? {
        try write(.digest) { db in
            guard try db.isCurrent(account, generation: generation) else { return nil }
            switch result {
            case .fetched(let payload, let etag):
                try db.run(
                    """
                    INSERT OR REPLACE INTO notif_contents
                        (account, slot_id, payload_json, fetched_at, etag, source, validated_at)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?4)
                    """,
                    [account.rawValue, slot, payload, now.milliseconds, etag, source]
                )
                // Older content is not needed, because armed occurrences have their text.
                try db.run(
                    "DELETE FROM notif_contents WHERE account = ? AND source = ? AND id <> ?",
                    [account.rawValue, source, db.lastInsertedRowID]
                )
            case .notModified:
                try db.run(
                    """
                    UPDATE notif_contents SET validated_at = ?1 WHERE id = (SELECT id FROM notif_contents
                        WHERE account = ?2 AND source = ?3 ORDER BY id DESC LIMIT 1)
                    """,
                    [now.milliseconds, account.rawValue, source]
                )
            case .failed: break
            }
            if let occurrence {
                let end = result == .failed ? DigestRow.Prefetch.failed : .succeeded
                try db.run(
                    """
                    UPDATE notif_deliveries SET prefetch = ?4 WHERE account = ?1 AND slot_id = ?2 AND fire_at = ?3
                    """,
                    occurrence.key(account) + [end.rawValue]
                )
            }
            return try db.enqueue(events, now)
        }
    }

    /// Cancels a fired digest at the sinks that have not accepted it, except during a running attempt.
    package func giveUpDigest(_ token: String, now: Timestamp) throws(StoreError) {
        try write(.delivery) { db in
            guard
                let row = try db.row(
                    "SELECT id, stream_id FROM notifications WHERE token = ? AND state = 'open'",
                    [token]
                )
            else { return }
            try db.run(
                """
                UPDATE deliveries SET state = 'cancelled', updated_at = ?1 WHERE state = 'pending'
                    AND notification_id = ?2 AND (leased_until IS NULL OR leased_until <= ?1)
                """,
                [now.milliseconds, row[0] as Int64]
            )
            _ = try settle(row[0], row[1], db, now)
        }
    }

    /// Deletes the state of digests that are no longer configured. The record of shown occurrences stays.
    package func retainDigests(_ names: Set<DigestName>) throws(StoreError) {
        try write(.digest) { db in
            let kept = names.map(\.rawValue).sorted().joined(separator: ",")
            // Names are letters, digits and `_`.
            let list = ",\(kept),"
            try db.run(
                """
                DELETE FROM notif_deliveries WHERE digest IS NOT NULL AND status = 'scheduled' AND fired_at IS NULL
                    AND instr(?, ',' || digest || ',') = 0
                """,
                [list]
            )
            try db.run(
                "DELETE FROM notif_config WHERE substr(k, 1, ?1) = ?2 AND instr(?3, ',' || substr(k, ?1 + 1) || ',') = 0",
                [DigestConfigurationKey.armedThrough.count, DigestConfigurationKey.armedThrough, list]
            )
        }
    }

    /// Stores the configuration of the digests and, if it changed, queues an event. The first configuration is no
    /// change.
    ///
    /// - Parameters:
    ///   - json: The configuration without secrets.
    ///   - event: The event to queue; `nil` for none.
    /// - Returns: The number of dropped events; `nil` if no event was queued.
    package func storeDigestConfiguration(
        _ json: String,
        telling event: EventDraft?,
        now: Timestamp
    ) throws(StoreError) -> Int? {
        try write(.digest) { db in
            let former: String? = try db.row(
                "SELECT v FROM notif_config WHERE k = ?",
                [DigestConfigurationKey.configuration]
            )?[0]
            guard former != json else { return nil }
            try db.run(
                "INSERT INTO notif_config (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
                [DigestConfigurationKey.configuration, json]
            )
            guard former != nil, let event else { return nil }
            return try db.enqueue([event], now)
        }
    }
}

/// The keys of `notif_config`.
enum DigestConfigurationKey {
    static let configuration = "digests"
    static let armedThrough = "armed_through:"
    static let heartbeat = "heartbeat_at"
}

extension DigestOccurrence {
    fileprivate func key(_ account: DID) -> StatementArguments {
        [account.rawValue, slot, fireAt.milliseconds]
    }
}

extension Row {
    fileprivate func digest() throws -> DigestState.Row {
        guard let digest = DigestName(self[0] as String) else { throw Self.damaged }
        var arming: DigestRow.Arming?
        if let kind = self[5] as String? {
            guard let kind = DigestText.Kind(rawValue: kind), let text = DigestText(kind, contentAt: optionalTime(6))
            else { throw Self.damaged }
            arming = DigestRow.Arming(text: text, fingerprint: self[7] ?? 0)
        }
        let isFired = optionalTime(8) != nil
        return DigestState.Row(
            row: DigestRow(
                DigestOccurrence(digest: digest, slot: self[1], fireAt: time(2)),
                status: try word(3),
                arming: arming,
                prefetch: try word(4),
                isFired: isFired
            ),
            token: self[9] ?? "",
            notification: isFired ? try optionalWord(10) ?? .cancelled : nil,
            finishedAt: optionalTime(11),
            code: (self[12] as String?).flatMap(SlotCode.init)
        )
    }
}

extension Database {
    fileprivate func armedThrough() throws -> [DigestName: Timestamp] {
        var found: [DigestName: Timestamp] = [:]
        let prefix = DigestConfigurationKey.armedThrough
        let rows = try rows("SELECT k, v FROM notif_config WHERE substr(k, 1, ?) = ?", [prefix.count, prefix])
        while let row = try rows.next() {
            if let name = DigestName(String((row[0] as String).dropFirst(prefix.count))),
                let time = Int64(row[1] as String)
            {
                found[name] = Timestamp(milliseconds: time)
            }
        }
        return found
    }

    fileprivate func arm(_ arming: DigestChanges.Arming, _ account: DID) throws {
        try run(
            """
            INSERT INTO notif_deliveries (account, slot_id, fire_at, status, digest, token, text_kind, content_at,
                fingerprint, title, body, payload)
            VALUES (?, ?, ?, 'scheduled', ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (account, slot_id, fire_at) DO UPDATE SET text_kind = excluded.text_kind,
                content_at = excluded.content_at, fingerprint = excluded.fingerprint, title = excluded.title,
                body = excluded.body, payload = excluded.payload
            WHERE status = 'scheduled' AND fired_at IS NULL
            """,
            arming.occurrence.key(account) + [
                arming.occurrence.digest.rawValue, arming.token, arming.text?.text.kind.rawValue,
                arming.text?.text.contentAt?.milliseconds,
                arming.text?.fingerprint, arming.text?.title, arming.text?.body, arming.text?.payload.blob,
            ]
        )
    }

    /// Turns an armed occurrence into a notification that is due at its sinks now.
    fileprivate func fire(
        _ firing: DigestChanges.Firing,
        _ account: DID,
        _ streams: [DigestName: Int64],
        _ now: Timestamp
    ) throws {
        let fired = try changed(
            """
            UPDATE notif_deliveries SET fired_at = ?4 WHERE account = ?1 AND slot_id = ?2 AND fire_at = ?3
                AND status = 'scheduled' AND fired_at IS NULL AND payload IS NOT NULL
            """,
            firing.occurrence.key(account) + [now.milliseconds]
        )
        guard fired == 1, let stream = streams[firing.occurrence.digest] else { return }
        try run(
            """
            INSERT INTO notifications (token, stream_id, state, kind, row_count, title, body, payload, run_id, created_at)
            SELECT token, ?4, 'open', 'single', 1, title, body, payload, ?5, ?6 FROM notif_deliveries
            WHERE account = ?1 AND slot_id = ?2 AND fire_at = ?3
            """,
            firing.occurrence.key(account) + [stream, firing.runID, now.milliseconds]
        )
        try insertDeliveries(of: lastInsertedRowID, to: firing.sinks, dueAt: now, now: now)
    }

    fileprivate func end(_ ending: DigestChanges.Ending, _ account: DID) throws {
        try run(
            """
            INSERT INTO notif_deliveries (account, slot_id, fire_at, delivered_at, status, error_code, digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (account, slot_id, fire_at) DO UPDATE SET delivered_at = excluded.delivered_at,
                status = excluded.status, error_code = excluded.error_code
            """,
            ending.occurrence.key(account) + [
                ending.shownAt?.milliseconds, ending.status.rawValue, ending.code?.rawValue,
                ending.occurrence.digest.rawValue,
            ]
        )
    }
}
