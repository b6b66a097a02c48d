import GRDB
package import StarwatchCore

/// What was fetched for a slot of a digest.
package struct SlotContent: Sendable, Hashable {
    package let payload: String
    package let fetchedAt: Timestamp
    package let etag: String?
}

/// How the delivery of a slot stands.
package enum SlotStatus: String, Sendable, CaseIterable {
    case scheduled, shown, skippedStale = "skipped_stale", error
}

/// Digests are read-only: they never acknowledge and touch no outbox row (C-054).
extension Store {
    /// Stores what was fetched for a slot. Contents are appended; the latest wins (C-198).
    package func saveContent(
        _ payload: String,
        slot: String,
        account: DID,
        etag: String?,
        fetchedAt: Timestamp
    ) throws(StoreError) {
        try direct(.digest) { db in
            try db.run(
                """
                INSERT OR REPLACE INTO notif_contents (account, slot_id, payload_json, fetched_at, etag)
                VALUES (?, ?, ?, ?, ?)
                """,
                [account.rawValue, slot, payload, fetchedAt.milliseconds, etag]
            )
        }
    }

    /// The latest content of a slot; `nil` if there is none.
    package func latestContent(slot: String, account: DID) throws(StoreError) -> SlotContent? {
        try direct(.read) { db in
            try db.row(
                """
                SELECT payload_json, fetched_at, etag FROM notif_contents WHERE account = ? AND slot_id = ?
                ORDER BY fetched_at DESC LIMIT 1
                """,
                [account.rawValue, slot]
            ).map { SlotContent(payload: $0[0], fetchedAt: $0.time(1), etag: $0[2]) }
        }
    }

    /// Stores how the delivery of a slot at `fireAt` stands; a later status replaces an earlier one (C-203).
    package func recordSlot(
        _ slot: String,
        account: DID,
        fireAt: Timestamp,
        status: SlotStatus,
        errorCode: String? = nil,
        now: Timestamp
    ) throws(StoreError) {
        try direct(.digest) { db in
            try db.run(
                """
                INSERT INTO notif_deliveries (account, slot_id, fire_at, delivered_at, status, error_code)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (account, slot_id, fire_at) DO UPDATE SET
                    delivered_at = excluded.delivered_at, status = excluded.status, error_code = excluded.error_code
                """,
                [
                    account.rawValue, slot, fireAt.milliseconds, status == .shown ? now.milliseconds : nil,
                    status.rawValue, errorCode,
                ]
            )
        }
    }

    /// The status of a slot's delivery at `fireAt`; `nil` if none is stored.
    package func slotStatus(_ slot: String, account: DID, fireAt: Timestamp) throws(StoreError) -> SlotStatus? {
        try direct(.read) { db in
            try db.row(
                "SELECT status FROM notif_deliveries WHERE account = ? AND slot_id = ? AND fire_at = ?",
                [account.rawValue, slot, fireAt.milliseconds]
            ).map { try $0.word(0) }
        }
    }
}
