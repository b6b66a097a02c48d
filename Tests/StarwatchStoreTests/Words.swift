import StarwatchCore

@testable import StarwatchStore

/// The numbers of rows that retention has deleted.
extension [String: Int] {
    var outbox: Int { self["notification_outbox"] ?? 0 }
    var settings: Int { self["settings"] ?? 0 }
    var shortlinks: Int { self["shortlinks"] ?? 0 }
    var watermarks: Int { self["watermarks"] ?? 0 }
    var slots: Int { sum("notif_contents", "notif_deliveries") }
    var logs: Int { sum("log_entries", "journal") }
    var deliveries: Int { sum("deliveries", "delivery_attempts", "former_states") }
    var history: Int { sum("history", "quarantine", "recent_runs", "page_fetches", "watermark_moves") }

    private func sum(_ tables: String...) -> Int { tables.reduce(0) { $0 + (self[$1] ?? 0) } }
}

extension StoreStars {
    /// Replaces the starred plans.
    func set(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { _, _ in plans }
    }

    /// Adds starred plans at the end.
    func add(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { stars, _ in stars + plans }
    }

    /// Removes starred plans.
    func remove(
        _ plans: [String],
        of account: DID,
        server: String,
        now: Timestamp
    ) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { stars, _ in stars.filter { !plans.contains($0) } }
    }

    /// Adds the newest archived stars.
    func restore(of account: DID, server: String, now: Timestamp) async throws(StoreError) -> [String] {
        try await change(of: account, server: server, now: now) { stars, archived in stars + (try archived()) }
    }
}
