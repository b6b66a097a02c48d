package import StarwatchCore

@testable package import StarwatchStore

extension StoreIdentity {
    /// Stores the account's `notificationPreferences`.
    ///
    /// - Parameter json: A JSON object. The schema rejects other texts.
    package func setNotificationPreferences(
        _ json: String,
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) {
        try await store.write(.identity, of: account) { db in
            try db.identity.ensureSettings(account, server: server, now: now)
            try db.run(
                "UPDATE settings SET notificationPreferences = ?, updated_at = ? WHERE accountDid = ?",
                [json, now.milliseconds, db.key(account)]
            )
        }
    }
}

extension StorePolls {
    /// The stored request window of an account; `nil` if there is none.
    package func requestWindow(of account: DID) async throws(StoreError) -> [UInt8]? {
        try await store.direct(.read) { db in try db.streams.window(of: account) }
    }
}

extension StoreAcknowledgements {
    /// The stored watermark; `nil` if there is none.
    package func watermark(_ stream: StreamKey) async throws(StoreError) -> JWTID? {
        try await store.direct(.read) { db in try db.acknowledgements.watermark(of: stream) }
    }
}

extension StoreEvents {
    /// Stores events. Of the heartbeats only the newest is kept.
    ///
    /// - Returns: The number of events dropped because of age or lack of room.
    package func enqueue(_ events: [EventDraft], now: Timestamp) async throws(StoreError) -> Int {
        try await store.write(.digest) { db in try db.digests.enqueue(events, now) }
    }
}

/// The numbers of rows that retention has deleted.
extension [String: Int] {
    package var outbox: Int { self["notification_outbox"] ?? 0 }
    package var settings: Int { self["settings"] ?? 0 }
    package var shortlinks: Int { self["shortlinks"] ?? 0 }
    package var logs: Int { sum("log_entries", "journal") }
    package var deliveries: Int { sum("deliveries", "delivery_attempts", "former_states") }
    package var history: Int { sum("history", "quarantine", "recent_runs", "page_fetches", "watermark_moves") }

    private func sum(_ tables: String...) -> Int { tables.reduce(0) { $0 + (self[$1] ?? 0) } }
}

extension StoreStars {
    /// Replaces the starred plans.
    @discardableResult
    package func set(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { _, _ in plans }
    }

    /// Adds starred plans at the end.
    @discardableResult
    package func add(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { stars, _ in stars + plans }
    }

    /// Removes starred plans.
    @discardableResult
    package func remove(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { stars, _ in stars.filter { !plans.contains($0) } }
    }

    /// Adds the newest archived stars.
    package func restore(of account: DID, server: String, now: Timestamp) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { stars, archived in stars + (try archived()) }
    }
}
