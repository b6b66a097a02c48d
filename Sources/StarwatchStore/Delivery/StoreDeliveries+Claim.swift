import FoundationEssentials
package import StarwatchCore
import Synchronization

extension StoreDeliveries {
    /// The number of pending rows of a stream. If there are any, also the age of the oldest and the last notification
    /// time.
    package func dueSummary(_ stream: StreamKey) async throws(StoreError) -> DueSummary {
        try await store.direct(.read, of: stream) { db, id in try db.deliveries.dueSummary(of: id) }
    }

    /// Claims pending rows and stores the notifications that announce them, in one transaction.
    ///
    /// The order is priority, then age, then identifier. Rows that do not open are set aside. Too many rows for one
    /// notification become several, by ``NotificationPart``. The interval to the next group begins when no row is left, so
    /// that rows beyond the limit do not wait for it.
    ///
    /// - Parameters:
    ///   - limit: The largest number of rows to claim.
    ///   - leaseUntil: The end of the caller's lease on the tickets.
    ///   - sinks: The sinks to deliver to. Without sinks nothing is claimed.
    ///   - held: The sinks among them that hold the notifications, each with the moment of their delivery.
    ///   - make: Renders the rows of one notification from local data only. Runs on the store's queue and must
    ///     not block.
    /// - Returns: The notifications with a ticket for every sink; none if no row is pending or another identity is
    ///   active.
    package func claim(
        _ stream: StreamKey,
        now: Timestamp,
        limit: Int,
        leaseUntil: Timestamp,
        sinks: [String],
        held: [String: Timestamp] = [:],
        make: @Sendable ([OutboxRow], NotificationPart?) -> (notification: OutgoingNotification, shortlink: Shortlink?)
    ) async throws(StoreError) -> [OpenNotification] {
        guard !sinks.isEmpty else { return [] }
        return try await store.write(.claim, of: stream) { db, id in
            let isLeaving = db.context.accounts.look(at: stream.account, \.isLeaving)
            guard try !isLeaving && db.identity.isActive(stream.account) else { return [] }
            let rows = try db.deliveries.pending(stream, id, limit: limit, now: now)
            guard !rows.isEmpty else { return [] }
            let open = sinks.filter { held[$0] == nil }
            let notifications = try NotificationPart.split(rows).map { rows, part in
                let (outgoing, shortlink) = make(rows, part)
                let notification = try db.notifications.insert(outgoing, id, now)
                try db.deliveries.claim(rows, as: notification)
                try db.notifications.insertDeliveries(
                    of: notification,
                    to: open,
                    dueAt: now,
                    leasedUntil: leaseUntil,
                    now: now
                )
                for (sink, opening) in held.sorted(by: { $0.key < $1.key }) {
                    try db.notifications.insertDeliveries(
                        of: notification,
                        to: [sink],
                        dueAt: opening,
                        isHeld: true,
                        now: now
                    )
                }
                if let shortlink {
                    let changes = rows.map(\.change)
                    try db.notifications.store(shortlink, to: changes, of: notification, stream.account, now)
                }
                return outgoing
            }
            try db.run(
                """
                UPDATE streams SET last_notified_at = ?1 WHERE id = ?2
                    AND NOT EXISTS (SELECT 1 FROM notification_outbox WHERE state = 'pending' AND stream_id = ?2)
                """,
                [now.milliseconds, id]
            )
            db.context.record(.claimed, rows.count)
            return notifications.map { outgoing in
                OpenNotification(
                    outgoing: outgoing,
                    stream: stream,
                    renewals: store.memory.renewals.load(ordering: .relaxed),
                    tickets: open.map {
                        DeliveryTicket(notification: outgoing.id, stream: stream, sink: $0, dueSince: now)
                    }
                )
            }
        }
    }

    /// The account's open notifications that are due at a sink again, for a retry or after a crash. Leases their tickets to
    /// the caller. Notifications that do not open are set aside.
    ///
    /// Notifications with fewer attempts come first, then older ones.
    package func reclaim(
        of account: DID,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int = 100
    ) async throws(StoreError) -> [OpenNotification] {
        let due = """
            d.state = 'pending' AND d.carried_by IS NULL AND d.next_attempt_at <= ?1
                AND (d.leased_until IS NULL OR d.leased_until <= ?1)
            """
        return try await store.write(.claim, of: account) { db in
            guard !db.context.accounts.look(at: account, \.isLeaving) else { return [] }
            let found: [(id: Int64, stream: Int64, content: (OutgoingNotification, StreamKey)?)] = try db.all(
                """
                \(NotificationRows.allOutgoing) WHERE s.account = ?3 AND n.state = 'open' AND EXISTS
                    (SELECT 1 FROM deliveries d WHERE d.notification_id = n.id AND \(due))
                ORDER BY (SELECT min(d.attempts) FROM deliveries d WHERE d.notification_id = n.id AND \(due)), n.id
                LIMIT ?2
                """,
                [now.milliseconds, limit, db.key(account)]
            ) { row in
                let content = try ifReadable { (try db.notifications.outgoing(row), try db.streams.stream(row)) }
                return (try row["id"], try row["stream_id"], content)
            }
            return try found.compactMap { id, streamID, content in
                guard let (outgoing, stream) = content else {
                    try db.notifications.setAside(notification: id, of: streamID, now)
                    return nil
                }
                let tickets = try db.all(
                    """
                    UPDATE deliveries AS d SET lease = lease + 1, leased_until = ?2
                    WHERE d.notification_id = ?3 AND \(due) RETURNING sink, lease, attempts, rejections,
                        due_since
                    """,
                    [now.milliseconds, leaseUntil.milliseconds, id]
                ) { sink in
                    DeliveryTicket(
                        notification: outgoing.id,
                        stream: stream,
                        sink: try sink["sink"],
                        dueSince: try sink["due_since"],
                        lease: try sink["lease"],
                        earlierAttempts: try sink["attempts"],
                        rejections: try sink["rejections"]
                    )
                }
                return OpenNotification(
                    outgoing: outgoing,
                    stream: stream,
                    renewals: store.memory.renewals.load(ordering: .relaxed),
                    tickets: tickets.sorted { $0.sink < $1.sink }
                )
            }
        }
    }

    /// The streams of an account with rows in `state`, except the `known` ones.
    ///
    /// - Parameter state: Must not be a final state.
    package func streams(
        of account: DID,
        with state: OutboxState,
        except known: [StreamKey]
    ) async throws(StoreError) -> [StreamKey] {
        let rows = "notification_outbox WHERE state = '\(state.rawValue)' AND stream_id = s.id AND \(Schema.isOpen)"
        return try await store.direct(.read) { db in
            try db.streams.list(of: account, with: rows).filter { !known.contains($0) }
        }
    }

    /// The time when the next sink is due for an open notification of the account; `nil` if none is. It is due at its retry
    /// or at the end of its lease.
    package func nextAt(of account: DID) async throws(StoreError) -> Timestamp? {
        try await store.direct(.read) { db in
            guard !db.context.accounts.look(at: account, \.isLeaving) else { return nil }
            return try db.value(
                """
                SELECT min(\(DeliveryRows.nextAt)) FROM streams s
                CROSS JOIN notifications n ON n.stream_id = s.id
                CROSS JOIN deliveries d ON d.notification_id = n.id
                WHERE s.account = ? AND n.state = 'open' AND d.state = 'pending' AND d.carried_by IS NULL
                """,
                [db.key(account)]
            )
        }
    }

    /// Frees the account's leases, which an earlier process took and did not confirm. Call it before the account is served.
    package func freeLeases(of account: DID) async throws(StoreError) {
        try await store.write(.edit, of: account) { db in try db.deliveries.freeLeases(of: account) }
    }
}

extension DeliveryRows {
    fileprivate func claim(_ rows: [OutboxRow], as notification: Int64) throws {
        let claimed = try db.changed(
            """
            UPDATE notification_outbox SET state = 'claimed', notification_id = ?
            WHERE +state = 'pending' AND id IN (SELECT value FROM json_each(?))
            """,
            [notification, jsonArray(rows.map(\.id))]
        )
        guard claimed == rows.count else { throw StoreError.damaged }
    }

    fileprivate func pending(_ stream: StreamKey, _ id: Int64, limit: Int, now: Timestamp) throws -> [OutboxRow] {
        while true {
            var found: [OutboxRow] = []
            var unreadable: [Int64] = []
            let rows = try db.rows(
                """
                SELECT reason, jwt_id, plan_id, name, is_offer, is_edition, fulfills_offer, details, id, retry_count,
                    created_at, run_id, changed_fields
                FROM notification_outbox
                WHERE state = 'pending' AND stream_id = ? ORDER BY priority DESC, created_at, jwt_id LIMIT ?
                """,
                [id, limit]
            )
            while let row = try rows.next() {
                if let row = try ifReadable({ try pending(row, stream, id) }) {
                    found.append(row)
                } else {
                    unreadable.append(try row["id"])
                }
            }
            if unreadable.isEmpty { return found }
            // Other rows take their places.
            try db.notifications.setAside(unreadable, of: id, now)
        }
    }

    /// A pending row, from the columns of its query.
    ///
    /// - Throws: ``StoreError/sealed(_:)`` if it does not open. Fields that do not open count as unknown.
    private func pending(_ row: SQLRow, _ stream: StreamKey, _ id: Int64) throws -> OutboxRow {
        // A decrypted database no longer has the value.
        guard try row["reason"] as String? != RowReason.unreadable.rawValue else { throw StoreError.sealed(.damaged) }
        let change = try db.outbox.change(row, of: id)
        return OutboxRow(
            id: try row["id"],
            stream: stream,
            change: change,
            state: .pending,
            retryCount: try row["retry_count"],
            notificationID: nil,
            createdAt: try row["created_at"],
            deliveredAt: nil,
            acknowledgedAt: nil,
            finishedAt: nil,
            runID: try row["run_id"],
            changedFields: try ifReadable { try db.outbox.changedFields(row["changed_fields"], of: id, change.id) }
                ?? nil
        )
    }

    func dueSummary(of stream: Int64) throws -> DueSummary {
        let row = try db.row(
            """
            SELECT count(*) AS count, min(created_at) AS oldest,
                (SELECT last_notified_at FROM streams WHERE id = ?1) AS last
            FROM notification_outbox INDEXED BY idx_outbox_priority WHERE state = 'pending' AND stream_id = ?1
            """,
            [stream]
        )
        guard let row else { throw StoreError.damaged }
        return (try row["count"], try row["oldest"], try row["last"])
    }

    func freeLeases(of account: DID) throws {
        try db.run(
            """
            UPDATE deliveries SET leased_until = NULL WHERE state = 'pending' AND leased_until IS NOT NULL
                AND notification_id IN (SELECT n.id FROM streams s JOIN notifications n ON n.stream_id = s.id
                    WHERE s.account = ? AND n.state = 'open')
            """,
            [db.key(account)]
        )
    }

    /// The time when delivery `d` can be tried next: after its wait and its lease.
    static let nextAt = "CASE WHEN d.leased_until > d.next_attempt_at THEN d.leased_until ELSE d.next_attempt_at END"

    /// The open notifications of each sink that has any. Notices have no changes. `CROSS JOIN` keeps SQLite from reading all
    /// deliveries.
    func backlogs() throws -> [String: SinkBacklog] {
        let found: [(sink: String, part: SinkBacklog.Part)] = try db.all(
            """
            SELECT d.sink, CASE d.is_held WHEN 1 THEN d.next_attempt_at END AS held_until, count(*) AS count,
                sum(CASE WHEN \(NotificationRows.isNotice) THEN 0 ELSE n.row_count END) AS rows,
                min(d.due_since) AS oldest, min(\(Self.nextAt)) AS next
            FROM notifications n CROSS JOIN deliveries d ON d.notification_id = n.id
            WHERE n.state = 'open' AND d.state = 'pending' AND d.carried_by IS NULL GROUP BY 1, 2
            """
        ) { row in
            let part = SinkBacklog.Part(
                notifications: try row["count"],
                rows: try row["rows"],
                oldestDue: try row["oldest"],
                nextAttempt: try row["next"],
                heldUntil: try row["held_until"]
            )
            return (try row["sink"], part)
        }
        return Dictionary(grouping: found, by: \.sink).compactMapValues { SinkBacklog($0.map(\.part)) }
    }
}
