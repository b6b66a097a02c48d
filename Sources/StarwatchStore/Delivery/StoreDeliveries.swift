package import StarwatchCore
import Synchronization

/// The notifications on their way to the sinks.
package struct StoreDeliveries: Sendable {
    let store: Store

    /// The number of rows and notifications set aside since the last call, because they do not open.
    package func takeUnreadable() -> Int { store.memory.unreadable.exchange(0, ordering: .relaxed) }

    /// Begins an attempt for an account, if one may be made.
    package func beginAttempt(for account: DID, at boottime: Duration) -> AttemptPermit {
        store.memory.accounts.change(account) { $0.beginAttempt(at: boottime) }
    }

    package func endAttempt(for account: DID) { store.memory.accounts.change(account) { $0.endAttempt() } }

    /// Stores the result of an attempt, and settles the notification's rows if they wait for no sink.
    ///
    /// - Parameters:
    ///   - attempt: The facts of the attempt, for the notification's story; `nil` if the sink was not tried.
    ///   - reason: The reason for a failed attempt. Only an attempt without one clears the stored one.
    ///   - maxRetries: The number of rejections after which a sink is given up; at least 1.
    /// - Returns: ``DeliveryResult/stale`` if the ticket's lease has ended.
    package func record(
        _ ticket: DeliveryTicket,
        _ outcome: DeliveryOutcome,
        attempt: DeliveryAttempt? = nil,
        reason: FailureReason? = nil,
        now: Timestamp,
        maxRetries: Int
    ) async throws(StoreError) -> DeliveryResult {
        try await store.write(.delivery, of: ticket.stream.account) { db in
            guard
                let open = try db.row(
                    """
                    SELECT id, stream_id, EXISTS (SELECT 1 FROM deliveries d WHERE d.carried_by = n.token) AS is_carrier
                    FROM notifications n WHERE token = ? AND state = 'open'
                    """,
                    [ticket.notification]
                )
            else { return .stale }
            let (id, stream): (Int64, Int64) = (try open["id"], try open["stream_id"])
            let next: Timestamp
            let state: DeliveryState
            var rejections = ticket.rejections
            var attempts = 1
            switch outcome {
            case .ok: (state, next) = (.ok, now)
            case .gone: (state, next) = (.gone, now)
            case .givenUp(let isAttempt): (state, next, attempts) = (.givenUp, now, isAttempt ? 1 : 0)
            case .unavailable(let at): (state, next) = (.pending, at)
            case .postponed(let until): (state, next, attempts) = (.pending, until, 0)
            case .held(let until): (state, next, attempts) = (.pending, until, 0)
            case .rejected(let at):
                rejections += 1
                (state, next) = (rejections >= maxRetries ? .rejected : .pending, at)
            }
            let hold = outcome.hold(from: now)
            let recorded = try db.changed(
                """
                UPDATE deliveries SET state = ?, leased_until = NULL, attempts = attempts + ?, rejections = ?,
                    next_attempt_at = ?, updated_at = ?, reason = CASE WHEN ? THEN ? ELSE coalesce(?, reason) END,
                    due_since = due_since + ?, is_held = ?
                WHERE notification_id = ? AND sink = ? AND state = 'pending' AND lease = ?
                """,
                [
                    state.rawValue, attempts, rejections, next.milliseconds, now.milliseconds, attempts > 0,
                    reason?.description, reason?.description, hold.wholeMilliseconds, hold > .zero, id, ticket.sink,
                    ticket.lease,
                ]
            )
            guard recorded == 1 else { return .stale }
            if case .held(let until) = outcome { try db.deliveries.extendLinks(of: [id], from: until) }
            if let attempt {
                try db.deliveries.store(attempt, of: ticket, id, now: now, nextAt: state == .pending ? next : nil)
            }
            if case .rejected = outcome {
                // `CROSS JOIN` keeps SQLite from reading the claimed rows of all accounts.
                try db.run(
                    """
                    UPDATE notification_outbox SET retry_count = ?1
                    WHERE retry_count < ?1 AND id IN (SELECT o.id FROM
                        (SELECT ?2 AS id UNION ALL
                            SELECT notification_id FROM deliveries WHERE carried_by = ?3 AND sink = ?4) i
                        CROSS JOIN notification_outbox o ON o.notification_id = i.id AND o.state = 'claimed')
                    """,
                    [rejections, id, ticket.notification, ticket.sink]
                )
            }
            let result = try db.deliveries.settle(id, stream, now)
            guard state != .pending, try open["is_carrier"] else { return result }
            let carried = try db.deliveries.finishCarried(by: ticket, as: state, reason: reason, now)
            return carried.isEmpty ? result : .several([result] + carried)
        }
    }

    /// The accounts with open notifications.
    package func accounts() async throws(StoreError) -> [DID] {
        try await store.direct(.read) { db in
            try db.all(
                "SELECT DISTINCT s.account FROM notifications n JOIN streams s ON s.id = n.stream_id WHERE n.state = 'open'"
            ) { row in try ifReadable { try db.account(row["account"]) } }
            .compactMap { $0 }
        }
    }

    /// The sinks that the account's open notifications wait for.
    package func waitingSinks(of account: DID) async throws(StoreError) -> Set<String> {
        try await store.direct(.read) { db in
            let sinks: [String] = try db.values(
                """
                SELECT DISTINCT d.sink FROM streams s JOIN notifications n ON n.stream_id = s.id
                JOIN deliveries d ON d.notification_id = n.id
                WHERE s.account = ? AND n.state = 'open' AND d.state = 'pending'
                """,
                [db.key(account)]
            )
            return Set(sinks)
        }
    }

    /// Removes sinks that are no longer configured from the account's open notifications, at start and after a reload.
    /// Also releases the rows that wait only for sinks that have become optional.
    ///
    /// - Returns: The results of the notifications that this settles.
    package func retainSinks(
        _ names: Set<String>,
        of account: DID,
        now: Timestamp
    ) async throws(StoreError) -> [DeliveryResult] {
        try await store.write(.delivery, of: account) { db in
            var affected: [(Int64, Int64, String)] = []
            let rows = try db.rows(
                """
                SELECT n.id, n.stream_id, d.sink FROM streams s JOIN notifications n ON n.stream_id = s.id
                JOIN deliveries d ON d.notification_id = n.id
                WHERE s.account = ? AND n.state = 'open' AND d.state = 'pending' ORDER BY n.id
                """,
                [db.key(account)]
            )
            while let row = try rows.next() {
                let sink: String = try row["sink"]
                if !names.contains(sink) || store.options.optionalSinks.contains(sink) {
                    affected.append((try row["id"], try row["stream_id"], sink))
                }
            }
            for (id, _, sink) in affected where !names.contains(sink) {
                try db.run(
                    "UPDATE deliveries SET state = 'gone', updated_at = ? WHERE notification_id = ? AND sink = ?",
                    [now.milliseconds, id, sink]
                )
            }
            var settled: [Int64: DeliveryResult] = [:]
            for (id, stream, _) in affected where settled[id] == nil {
                settled[id] = try db.deliveries.settle(id, stream, now)
            }
            return settled.sorted { $0.key < $1.key }.map(\.value).filter { $0 != .waiting }
        }
    }
}

/// The deliveries to sinks, in one access.
struct DeliveryRows {
    let db: Session

    /// Moves the rows of a notification to their next state, by ``DeliveryRule``, and closes the notification if no sink
    /// is due. With an optional sink still due, the rows can end before their notification.
    func settle(_ id: Int64, _ stream: Int64, _ now: Timestamp) throws -> DeliveryResult {
        let (required, optional) = try states(of: id)
        let isAccepted = required.contains(.ok) || optional.contains(.ok)
        var verdict = DeliveryRule.verdict(required: required, optional: optional)
        var delta = Ledger()
        let result: DeliveryResult
        let closed: StoredNotification.State
        var dead: [JWTID] = []
        if verdict == .dead {
            dead = try moved("state = 'dead', finished_at = ?1", [now.milliseconds, stream, id])
            // A notification without rows, such as a digest, is shown if one sink has it.
            if dead.isEmpty, isAccepted, try !hasRows("state = 'dead'", of: id, stream) { verdict = .delivered }
        }
        switch verdict {
        case .waiting: return .waiting
        case .dead:
            delta.dead = dead.count
            db.context.record(.dead, dead.count)
            (result, closed) = (.dead(dead), .dead)
        case .delivered:
            let ids = try moved(
                // The notification has the changed fields and the details. Without them rows do not grow, so no page of them is
                // split.
                "state = 'delivered', delivered_at = ?1, reason = NULL, changed_fields = NULL, details = NULL",
                [now.milliseconds, stream, id]
            )
            delta.delivered = ids.count
            db.context.record(.delivered, ids.count)
            (result, closed) = (.delivered(ids), .delivered)
        case .released:
            let rows = try db.formerStates.release(claimedIn: id, of: stream, now)
            // The notification has no row to announce again, so it waits for other sinks itself.
            if rows == 0, try db.notifications.isToBeReaddressed(id) { return .waiting }
            (result, closed) = (.released(rows: rows), .released)
        }
        try db.ledger.add(delta, to: stream)
        if optional.contains(.pending) { return result }
        try db.run(
            "UPDATE notifications SET state = ?, finished_at = ? WHERE id = ?",
            [closed.rawValue, now.milliseconds, id]
        )
        return result
    }

    /// The states of a notification at the required and at the optional sinks.
    private func states(of id: Int64) throws -> (required: Set<DeliveryState>, optional: Set<DeliveryState>) {
        var (required, optional): (Set<DeliveryState>, Set<DeliveryState>) = ([], [])
        let found: [(sink: String, state: DeliveryState)] = try db.all(
            "SELECT sink, state FROM deliveries WHERE notification_id = ?",
            [id]
        ) { (try $0["sink"], try $0["state"]) }
        for (sink, state) in found {
            if db.context.options.optionalSinks.contains(sink) {
                optional.insert(state)
            } else {
                required.insert(state)
            }
        }
        return (required, optional)
    }

    func moved(_ assignment: String, _ arguments: SQLArguments) throws -> [JWTID] {
        try db.values(
            """
            UPDATE notification_outbox SET \(assignment)
            WHERE state = 'claimed' AND +stream_id = ?2 AND notification_id = ?3 RETURNING jwt_id
            """,
            arguments
        )
    }

    /// Whether a notification has rows of a condition, which is a fixed text, because the statement is cached.
    func hasRows(_ condition: String, of notification: Int64, _ stream: Int64) throws -> Bool {
        try db.integer(
            """
            SELECT EXISTS (SELECT 1 FROM notification_outbox
                WHERE \(condition) AND stream_id = ? AND notification_id = ?)
            """,
            [stream, notification]
        ) == 1
    }

    /// Deliveries `d`, each with the one `c` that brings its notification to the sink, if there is one.
    static let withCarriers = """
        deliveries d LEFT JOIN notifications n ON n.token = d.carried_by
        LEFT JOIN deliveries c ON c.notification_id = n.id AND c.sink = d.sink
        """

    /// The state of a notification at every sink, by its row id. A notification that another one brings to a sink has the
    /// attempts of that one.
    func list(of notification: Int64?) throws -> [SinkStatus] {
        guard let notification else { return [] }
        return try db.all(
            """
            SELECT d.sink, d.state, coalesce(c.attempts, d.attempts) AS attempts,
                coalesce(c.rejections, d.rejections) AS rejections,
                coalesce(c.next_attempt_at, d.next_attempt_at) AS next_attempt_at, d.updated_at,
                coalesce(c.reason, d.reason) AS reason, coalesce(c.is_held, d.is_held) AS is_held, d.leased_until
            FROM \(Self.withCarriers)
            WHERE d.notification_id = ? ORDER BY d.sink
            """,
            [notification]
        ) { row in
            var status = SinkStatus(
                try row["sink"],
                try row["state"],
                nextAttemptAt: try row["next_attempt_at"],
                updatedAt: try row["updated_at"]
            )
            (status.attempts, status.rejections) = (try row["attempts"], try row["rejections"])
            status.reason = (try row["reason"] as String?).flatMap { FailureReason($0) }
            (status.isHeld, status.leasedUntil) = (try row["is_held"], try row["leased_until"])
            return status
        }
    }
}
