package import StarwatchCore

/// A callback event before it is stored.
package struct EventDraft: Sendable, Hashable {
    package let kind: CallbackKind
    /// JSON without secrets and identities.
    package let payload: String

    package init(kind: CallbackKind, payload: String) {
        self.kind = kind
        self.payload = payload
    }
}

/// A queued callback event.
package struct QueuedEvent: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let kind: CallbackKind
    package let payload: String
    /// The number of failed attempts.
    package let attempts: Int
}

/// The queue of callback events: at most 1,000, for at most 14 days.
package struct StoreEvents: Sendable {
    let store: Store

    static let limit = 1000
    static let age = Duration.days(14)

    /// Stores a heartbeat if the last one is older than `interval`.
    ///
    /// - Returns: The number of dropped events; `nil` if no heartbeat was due.
    package func enqueueHeartbeat(
        _ event: EventDraft,
        every interval: Duration,
        now: Timestamp
    ) async throws(StoreError) -> Int? {
        try await store.write(.digest) { db in
            let stored = try db.digests.configured(DigestRows.heartbeatKey)
            // A time in the future comes from a clock that was set back.
            if let last = stored.flatMap(Int64.init).map({ Timestamp(milliseconds: $0) }), last <= now,
                now - last < interval
            {
                return nil
            }
            try db.digests.configure(DigestRows.heartbeatKey, String(now.milliseconds))
            return try db.digests.enqueue([event], now)
        }
    }

    /// The due events of these kinds. Events with fewer attempts come first, so that a failing one does not block
    /// others.
    package func due(
        _ kinds: Set<CallbackKind>,
        now: Timestamp,
        limit: Int = 100
    ) async throws(StoreError) -> [QueuedEvent] {
        try await store.direct(.read) { db in
            try db.all(
                """
                SELECT id, kind, payload_json, attempts FROM event_queue
                WHERE (next_attempt_at <= ?1 OR created_at > ?1) AND kind IN (SELECT value FROM json_each(?2))
                ORDER BY attempts, id LIMIT ?3
                """,
                [now.milliseconds, Self.list(Array(kinds)), limit]
            ) { row in
                QueuedEvent(
                    id: try row["id"],
                    kind: try row["kind"],
                    payload: try row["payload_json"],
                    attempts: try row["attempts"]
                )
            }
        }
    }

    /// The time of the next event of these kinds that is postponed beyond `now`; `nil` for none.
    package func nextDue(_ kinds: Set<CallbackKind>, now: Timestamp) async throws(StoreError) -> Timestamp? {
        try await store.direct(.read) { db in
            try db.value(
                """
                SELECT min(next_attempt_at) FROM event_queue
                WHERE next_attempt_at > ? AND kind IN (SELECT value FROM json_each(?))
                """,
                [now.milliseconds, Self.list(Array(kinds))]
            )
        }
    }

    /// Removes a delivered event from the queue.
    package func remove(_ id: Int64) async throws(StoreError) {
        try await store.direct(.digest) { db in try db.run("DELETE FROM event_queue WHERE id = ?", [id]) }
    }

    /// Postpones a failed event until `time`.
    package func postpone(_ id: Int64, until time: Timestamp) async throws(StoreError) {
        try await store.direct(.digest) { db in
            try db.run(
                "UPDATE event_queue SET attempts = attempts + 1, next_attempt_at = ? WHERE id = ?",
                [time.milliseconds, id]
            )
        }
    }

    /// Drops expired events.
    ///
    /// - Returns: The number of dropped events.
    package func dropOld(now: Timestamp) async throws(StoreError) -> Int {
        try await store.direct(.digest) { db in
            try db.changed("DELETE FROM event_queue WHERE created_at < ?", [(now - Self.age).milliseconds])
        }
    }

    /// Deletes the events of other kinds, which no longer have a receiver.
    package func retain(_ kinds: [CallbackKind]) async throws(StoreError) {
        let statement = "DELETE FROM event_queue WHERE kind NOT IN (SELECT value FROM json_each(?))"
        try await store.direct(.digest) { db in try db.run(statement, [Self.list(kinds)]) }
    }

    private static func list(_ kinds: [CallbackKind]) -> String { jsonArray(kinds.map(\.rawValue).sorted()) }

    /// The number of queued events.
    package func count() async throws(StoreError) -> Int {
        try await store.direct(.read) { db in try db.integer("SELECT count(*) FROM event_queue") }
    }
}

extension DigestRows {
    /// Stores events, of the heartbeats only the newest, then drops expired events and the oldest ones beyond the limit.
    ///
    /// - Returns: The number of dropped events.
    func enqueue(_ events: [EventDraft], _ now: Timestamp) throws -> Int {
        for event in events {
            if event.kind == .heartbeat { try db.run("DELETE FROM event_queue WHERE kind = 'heartbeat'") }
            try db.run(
                "INSERT INTO event_queue (kind, payload_json, created_at, next_attempt_at) VALUES (?1, ?2, ?3, ?3)",
                [event.kind.rawValue, event.payload, now.milliseconds]
            )
        }
        guard !events.isEmpty else { return 0 }
        return try db.changed(
            """
            DELETE FROM event_queue WHERE created_at < ?1 OR id NOT IN
                (SELECT id FROM event_queue ORDER BY id DESC LIMIT ?2)
            """,
            [(now - StoreEvents.age).milliseconds, StoreEvents.limit]
        )
    }

    /// The keys of `notif_config`.
    static let (configurationKey, heartbeatKey) = ("digests", "heartbeat_at")

    /// The value of a key in `notif_config`.
    func configured(_ key: String) throws -> String? { try db.value("SELECT v FROM notif_config WHERE k = ?", [key]) }

    /// Stores the value of a key in `notif_config`.
    func configure(_ key: String, _ value: String) throws {
        try db.run(
            "INSERT INTO notif_config (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
            [key, value]
        )
    }
}
