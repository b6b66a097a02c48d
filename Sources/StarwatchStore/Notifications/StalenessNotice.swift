package import StarwatchCore

/// The current notice that a stream is stale.
package struct StalenessNotice: Sendable, Hashable {
    package let id: String
    package let runID: String
    /// The sinks that accepted it.
    package let takenBy: Set<String>
    /// The first moment at which the hours of a sink let it through, or did; `nil` if none holds it.
    package let opensAt: Timestamp?
}

extension StoreNotifications {
    /// The current notice that a stream is stale; `nil` if there is none.
    package func stalenessNotice(_ stream: StreamKey) async throws(StoreError) -> StalenessNotice? {
        try await store.direct(.read, of: stream) { db, id in
            let row = try db.row(
                """
                SELECT n.id, n.token, n.run_id FROM staleness_notices t JOIN notifications n ON n.id = t.notification_id
                WHERE t.stream_id = ?
                """,
                [id]
            )
            guard let row else { return nil }
            let deliveries = try db.deliveries.list(of: row["id"])
            return StalenessNotice(
                id: try row["token"],
                runID: try row["run_id"],
                takenBy: Set(deliveries.filter { $0.state == .ok }.map(\.sink)),
                opensAt: deliveries.filter { $0.state == .pending && $0.isHeld && $0.attempts == 0 }
                    .map(\.nextAttemptAt).min()
            )
        }
    }

    /// The account's streams with a current notice, except the `known` ones.
    package func staleStreams(of account: DID, except known: [StreamKey]) async throws(StoreError) -> [StreamKey] {
        try await store.direct(.read) { db in
            try db.streams.list(of: account, with: "staleness_notices WHERE stream_id = s.id")
                .filter { !known.contains($0) }
        }
    }

    /// Stores a notice for immediate delivery. Does nothing if there is one already or another identity is active.
    package func raiseStalenessNotice(
        _ stream: StreamKey,
        _ notification: OutgoingNotification,
        sinks: [String],
        now: Timestamp
    ) async throws(StoreError) {
        try await store.write(.edit, of: stream) { db, id in
            guard try db.identity.isActive(stream.account),
                try db.integer("SELECT count(*) FROM staleness_notices WHERE stream_id = ?", [id]) == 0
            else { return }
            let row = try db.notifications.insertNotice(notification, of: id, to: sinks, now: now)
            try db.run("INSERT INTO staleness_notices (stream_id, notification_id) VALUES (?, ?)", [id, row])
        }
    }

    /// Gives the current notice another text, under its id.
    package func renewStalenessNotice(
        _ stream: StreamKey,
        _ notification: OutgoingNotification
    ) async throws(StoreError) {
        try await store.write(.edit, of: stream) { db, id in
            let found: Int64? = try db.value(
                """
                SELECT n.id FROM staleness_notices t JOIN notifications n ON n.id = t.notification_id
                WHERE t.stream_id = ? AND n.token = ? AND n.state = 'open'
                """,
                [id, notification.id]
            )
            if let found { try db.notifications.replace(found, by: notification, id) }
        }
    }

    /// Withdraws the notice: cancels its open deliveries and sends `notification` to `sinks`.
    package func clearStalenessNotice(
        _ stream: StreamKey,
        _ notification: OutgoingNotification,
        sinks: [String],
        now: Timestamp
    ) async throws(StoreError) {
        try await store.write(.edit, of: stream) { db, id in
            try db.notifications.cancelOpen(
                "(SELECT notification_id FROM staleness_notices WHERE stream_id = ?1)",
                id,
                now
            )
            guard try db.changed("DELETE FROM staleness_notices WHERE stream_id = ?", [id]) == 1, !sinks.isEmpty,
                try db.identity.isActive(stream.account)
            else { return }
            _ = try db.notifications.insertNotice(notification, of: id, to: sinks, now: now)
        }
    }
}
