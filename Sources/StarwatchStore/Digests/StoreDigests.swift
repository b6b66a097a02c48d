import FoundationEssentials
package import StarwatchCore

/// Digests are read-only: they never acknowledge and never touch an outbox row.
///
/// A fired digest becomes a notification without rows, in a stream of its own. The dispatcher delivers, retries and
/// cancels it like any other.
package struct StoreDigests: Sendable {
    let store: Store

    /// The stored digests of an account: all open occurrences, and those due after `since`. An occurrence whose text does
    /// not open counts as unarmed.
    package func state(of account: DID, since: Timestamp) async throws(StoreError) -> DigestState {
        // An open notification that waits only for optional sinks (`required: false`).
        let isShown = """
            n.state = 'open' AND EXISTS (SELECT 1 FROM deliveries v WHERE v.notification_id = n.id AND v.state = 'ok')
                AND NOT EXISTS (SELECT 1 FROM deliveries v WHERE v.notification_id = n.id AND v.state = 'pending'
                    AND v.sink NOT IN (SELECT value FROM json_each(?3)))
            """
        return try await store.direct(.read) { db in
            let found = try db.all(
                """
                SELECT d.digest, d.slot_id, d.fire_at, d.status, d.prefetch, d.text_kind, d.content_at, d.fingerprint,
                    d.fired_at, d.token, CASE WHEN \(isShown) THEN 'delivered' ELSE n.state END AS notification,
                    coalesce(n.finished_at, (SELECT max(updated_at) FROM deliveries v
                        WHERE v.notification_id = n.id AND v.state = 'ok')) AS finished_at, d.error_code, d.title, d.body,
                    d.payload
                FROM notif_deliveries d LEFT JOIN notifications n ON n.token = d.token
                WHERE d.account = ?1 AND d.digest IS NOT NULL AND (d.status = 'scheduled' OR d.fire_at > ?2)
                ORDER BY d.fire_at, d.slot_id
                """,
                [db.key(account), since.milliseconds, jsonArray(store.options.optionalSinks.sorted())]
            ) { row in try DigestState.Row(row, isReadable: db.digests.opens(row)) }
            return DigestState(rows: found, armedThrough: try db.digests.armedThrough(of: account))
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
    ) async throws(StoreError) -> Int? {
        try await store.perform { store throws(StoreError) in
            var fired: [(firing: DigestChanges.Firing, stream: Int64)] = []
            for firing in changes.fired {
                let poll = PollName(firing.occurrence.digest)
                fired.append((firing, try store.streamID(StreamKey(account: account, server: server, poll: poll))))
            }
            let firings = fired
            // Counted as a claim, because a fired digest becomes due at sinks.
            return try store.write(changes.fired.isEmpty ? .digest : .claim, of: account) { db in
                guard try db.identity.isCurrent(account, generation: generation) else { return nil }
                for occurrence in changes.dropped {
                    try db.run(
                        "DELETE FROM notif_deliveries WHERE account = ? AND slot_id = ? AND fire_at = ? AND fired_at IS NULL",
                        occurrence.key(of: account, in: db)
                    )
                }
                for arming in changes.armed { try db.digests.arm(arming, account) }
                for (firing, stream) in firings { try db.digests.fire(firing, of: account, in: stream, now) }
                for ending in changes.ended { try db.digests.end(ending, account) }
                for occurrence in changes.fetching {
                    try db.run(
                        "UPDATE notif_deliveries SET prefetch = 'started' WHERE account = ? AND slot_id = ? AND fire_at = ?",
                        occurrence.key(of: account, in: db)
                    )
                }
                for (digest, time) in changes.armedThrough { try db.digests.setArmedThrough(time, digest, account) }
                return try db.digests.enqueue(changes.events, now)
            }
        }
    }

    /// Cancels a fired digest of the account at the sinks that have not accepted it, except during a running attempt.
    package func giveUp(_ token: String, of account: DID, now: Timestamp) async throws(StoreError) {
        try await store.write(.delivery, of: account) { db in
            guard
                let row = try db.row(
                    """
                    SELECT n.id, n.stream_id FROM notifications n JOIN streams s ON s.id = n.stream_id
                    WHERE n.token = ? AND n.state = 'open' AND s.account = ?
                    """,
                    [token, db.key(account)]
                )
            else { return }
            try db.run(
                """
                UPDATE deliveries SET state = 'cancelled', updated_at = ?1 WHERE state = 'pending'
                    AND notification_id = ?2 AND (leased_until IS NULL OR leased_until <= ?1)
                """,
                [now.milliseconds, try row["id"] as Int64]
            )
            _ = try db.deliveries.settle(row["id"], row["stream_id"], now)
        }
    }

    /// Deletes the state of digests that are no longer configured. The record of shown occurrences stays.
    package func retain(_ names: Set<DigestName>) async throws(StoreError) {
        try await store.write(.digest) { db in
            let list = jsonArray(names.map(\.rawValue).sorted())
            try db.run(
                """
                DELETE FROM notif_deliveries WHERE digest IS NOT NULL AND status = 'scheduled' AND fired_at IS NULL
                    AND digest NOT IN (SELECT value FROM json_each(?))
                """,
                [list]
            )
            try db.run("DELETE FROM digest_progress WHERE digest NOT IN (SELECT value FROM json_each(?))", [list])
        }
    }

    /// Stores the configuration of the digests and, if it changed, queues an event. The first configuration is no
    /// change.
    ///
    /// - Parameters:
    ///   - json: The configuration without secrets.
    ///   - event: The event to queue; `nil` for none.
    /// - Returns: The number of dropped events; `nil` if no event was queued.
    package func storeConfiguration(
        _ json: String,
        telling event: EventDraft?,
        now: Timestamp
    ) async throws(StoreError) -> Int? {
        try await store.write(.digest) { db in
            let former = try db.digests.configured(DigestRows.configurationKey)
            guard former != json else { return nil }
            try db.digests.configure(DigestRows.configurationKey, json)
            guard former != nil, let event else { return nil }
            return try db.digests.enqueue([event], now)
        }
    }
}

extension DigestOccurrence {
    /// The text that binds the values of an occurrence or of a content to their row.
    static func row(slot: String, time: Timestamp) -> String { "\(slot)/\(time.milliseconds)" }
}

/// The digests and callback events, in one access.
struct DigestRows {
    let db: Session

    /// Whether the text of an armed occurrence opens, from the columns of ``StoreDigests/state(of:since:)``. Other
    /// occurrences need none.
    func opens(_ row: SQLRow) throws -> Bool {
        guard db.vault.isSealed, try row["status"] == SlotStatus.scheduled, try row["fired_at"] as Timestamp? == nil,
            try row["text_kind"] as String? != nil
        else { return true }
        let place = DigestOccurrence.row(slot: try row["slot_id"], time: try row["fire_at"])
        let opened: Void? = try ifReadable {
            _ = try db.opened(row["title"] as String?, .digestTitle, row: place)
            _ = try db.opened(row["body"] as String?, .digestBody, row: place)
            if let payload: Data = try row["payload"] { _ = try db.opened(payload, .digestPayload, row: place) }
        }
        return opened != nil
    }

    /// The times up to which the account's digests are armed.
    func armedThrough(of account: DID) throws -> [DigestName: Timestamp] {
        var found: [DigestName: Timestamp] = [:]
        let rows = try db.rows("SELECT digest, armed_through FROM digest_progress WHERE account = ?", [db.key(account)])
        while let row = try rows.next() {
            guard let name = DigestName(try row["digest"] as String) else { throw StoreError.damaged }
            found[name] = try row["armed_through"]
        }
        return found
    }

    func setArmedThrough(_ time: Timestamp, _ digest: DigestName, _ account: DID) throws {
        try db.run(
            """
            INSERT INTO digest_progress (account, digest, armed_through) VALUES (?, ?, ?)
            ON CONFLICT (account, digest) DO UPDATE SET armed_through = excluded.armed_through
            """,
            [db.key(account), digest.rawValue, time.milliseconds]
        )
    }

    func arm(_ arming: DigestChanges.Arming, _ owner: DID) throws {
        let (account, row) = (
            db.key(owner), DigestOccurrence.row(slot: arming.occurrence.slot, time: arming.occurrence.fireAt)
        )
        try db.run(
            """
            INSERT INTO notif_deliveries (account, slot_id, fire_at, status, digest, token, text_kind, content_at,
                fingerprint, title, body, payload)
            VALUES (?, ?, ?, 'scheduled', ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (account, slot_id, fire_at) DO UPDATE SET text_kind = excluded.text_kind,
                content_at = excluded.content_at, fingerprint = excluded.fingerprint, title = excluded.title,
                body = excluded.body, payload = excluded.payload
            WHERE status = 'scheduled' AND fired_at IS NULL
            """,
            arming.occurrence.key(of: owner, in: db) + [
                arming.occurrence.digest.rawValue, arming.token, arming.text?.text.kind.rawValue,
                arming.text?.text.contentAt?.milliseconds,
                arming.text?.fingerprint, try db.sealed(arming.text?.title, .digestTitle, of: account, row: row),
                try db.sealed(arming.text?.body, .digestBody, of: account, row: row),
                try arming.text.map { try db.sealed($0.payload, .digestPayload, of: account, row: row) },
            ]
        )
    }

    /// Turns an armed occurrence into a notification that is due at its sinks now.
    ///
    /// One whose text does not open becomes unarmed, so that the next pass arms it anew.
    func fire(_ firing: DigestChanges.Firing, of account: DID, in stream: Int64, _ now: Timestamp) throws {
        let fired = try db.changed(
            """
            UPDATE notif_deliveries SET fired_at = ?4 WHERE account = ?1 AND slot_id = ?2 AND fire_at = ?3
                AND status = 'scheduled' AND fired_at IS NULL AND payload IS NOT NULL
            """,
            firing.occurrence.key(of: account, in: db) + [now.milliseconds]
        )
        guard fired == 1 else { return }
        let found = try db.row(
            "SELECT token, title, body, payload FROM notif_deliveries WHERE account = ? AND slot_id = ? AND fire_at = ?",
            firing.occurrence.key(of: account, in: db)
        )
        guard let found else { throw StoreError.damaged }
        let row = DigestOccurrence.row(slot: firing.occurrence.slot, time: firing.occurrence.fireAt)
        let notification = try ifReadable {
            OutgoingNotification(
                id: try found["token"],
                runID: firing.runID,
                poll: firing.occurrence.digest.rawValue,
                group: .single,
                count: 1,
                text: (
                    try db.opened(found["title"], .digestTitle, row: row),
                    try db.opened(found["body"], .digestBody, row: row)
                ),
                payload: try db.opened(found["payload"] as Data, .digestPayload, row: row)
            )
        }
        guard let notification else {
            return try db.run(
                """
                UPDATE notif_deliveries SET fired_at = NULL, text_kind = NULL, content_at = NULL, fingerprint = NULL,
                    title = NULL, body = NULL, payload = NULL WHERE account = ? AND slot_id = ? AND fire_at = ?
                """,
                firing.occurrence.key(of: account, in: db)
            )
        }
        _ = try db.notifications.insertNotice(notification, of: stream, to: firing.sinks, now: now)
    }

    func end(_ ending: DigestChanges.Ending, _ account: DID) throws {
        try db.run(
            """
            INSERT INTO notif_deliveries (account, slot_id, fire_at, delivered_at, status, error_code, digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (account, slot_id, fire_at) DO UPDATE SET delivered_at = excluded.delivered_at,
                status = excluded.status, error_code = excluded.error_code
            """,
            ending.occurrence.key(of: account, in: db) + [
                ending.shownAt?.milliseconds, ending.status.rawValue, ending.code?.rawValue,
                ending.occurrence.digest.rawValue,
            ]
        )
    }
}

extension DigestOccurrence {
    /// The primary key of the occurrence of an account.
    func key(of account: DID, in db: Session) -> SQLArguments { [db.key(account), slot, fireAt.milliseconds] }
}
