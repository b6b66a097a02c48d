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
