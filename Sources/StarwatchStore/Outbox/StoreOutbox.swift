package import StarwatchCore

/// The outbox, for operators and polls.
package struct StoreOutbox: Sendable {
    let store: Store

    /// The rows that match the filter, by id.
    package func list(_ filter: OutboxFilter) async throws(StoreError) -> [OutboxRow] {
        try await store.direct(.read) { db in
            var sql = """
                SELECT \(OutboxRow.columns) FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
                WHERE o.id \(filter.isNewestFirst ? "<" : ">") ?
                """
            var arguments: SQLArguments = [filter.after ?? (filter.isNewestFirst ? .max : 0)]
            if let states = filter.states {
                let words = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
                sql +=
                    " AND (o.state IN (\(words))\(filter.includesUndelivered ? " OR \(OutboxRow.isUndelivered)" : ""))"
            }
            if let poll = filter.poll {
                sql += " AND s.poll = ?"
                arguments += [poll.rawValue]
            }
            if let account = filter.account {
                sql += " AND s.account = ?"
                arguments += [db.key(account)]
            }
            if filter.isTwice { sql += " AND \(OutboxRow.isTwice)" }
            sql += " ORDER BY o.id\(filter.isNewestFirst ? " DESC" : "") LIMIT ?"
            arguments += [filter.limit]
            return try db.all(sql, arguments) { try OutboxRow($0, db) }
        }
    }

    /// The number of open and dead rows of one stream, by state. A state without rows has no entry.
    package func counts(of stream: StreamKey) async throws(StoreError) -> [OutboxState: Int] {
        try await store.direct(.read, of: stream) { db, id in try db.outbox.countsByStream(id)[id] ?? [:] }
    }

    /// One row and its state at every sink; `nil` if there is none.
    package func row(_ id: Int64) async throws(StoreError) -> (row: OutboxRow, deliveries: [SinkStatus])? {
        try await store.direct(.read) { db in
            let row = try db.row(
                """
                SELECT \(OutboxRow.columns), o.notification_id
                FROM notification_outbox o JOIN streams s ON s.id = o.stream_id WHERE o.id = ?
                """,
                [id]
            )
            guard let row else { return nil }
            return (try OutboxRow(row, db), try db.deliveries.list(of: row["notification_id"]))
        }
    }

    /// The ids of the rows in a state. Rows that an optional sink did not get are dead letters, as dead rows are.
    ///
    /// - Parameters:
    ///   - poll: The poll of the rows; `nil`: every poll.
    ///   - account: The account of the rows; `nil`: every account.
    package func ids(_ state: OutboxState, poll: PollName?, of account: DID?) async throws(StoreError) -> [Int64] {
        let isLost = state == .dead ? "OR \(OutboxRow.isUndelivered)" : ""
        return try await store.direct(.read) { db in
            try db.values(
                """
                SELECT o.id FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
                WHERE (o.state = '\(state.rawValue)' \(isLost)) AND (?1 IS NULL OR s.poll = ?1)
                    AND (?2 IS NULL OR s.account = ?2)
                ORDER BY o.id
                """,
                [poll?.rawValue, account.map(db.key)]
            )
        }
    }

    /// Retries dead letters of the account, with all their attempts. Ignores other ids, and rows that still do not open.
    /// Does nothing if another identity is active.
    ///
    /// Dead rows become pending, for a new notification. If some sinks have accepted the rows or are still due, only the
    /// sinks that did not get them are retried, with the same notification and all of its dead rows. So is a sink that was
    /// given up: it can have accepted the notification although its answer was lost. Rows that an optional sink did not get
    /// stay as they are: only that sink is retried. A sink that did not get a notification made of several gets it again, so
    /// the rows of all of them are retried.
    ///
    /// - Parameters:
    ///   - sinks: The current sinks.
    ///   - make: Renders a notification without the rows that were discarded.
    /// - Returns: The number of changed rows.
    package func retry(
        _ ids: [Int64],
        of account: DID,
        sinks: [String],
        now: Timestamp,
        make: NotificationRenewal
    ) async throws(StoreError) -> Int {
        try await store.write(.edit, of: account) { db in
            guard try db.identity.isActive(account) else { return 0 }
            let ids = try db.deliveries.joinedRows(with: ids)
            let unreadable = Set(try db.outbox.unreadable(among: ids))
            let (list, names) = (jsonArray(ids.filter { !unreadable.contains($0) }), jsonArray(sinks))
            let isOwn = "stream_id IN (SELECT id FROM streams WHERE account = ?4)"
            let key = db.key(account)
            let found: [(notification: Int64, stream: Int64, rows: Int, isDead: Bool)] = try db.all(
                """
                SELECT o.notification_id, stream_id, count(*) AS count, state = 'dead' AS is_dead
                FROM notification_outbox o
                WHERE id IN (SELECT value FROM json_each(?1)) AND \(isOwn) AND (\(OutboxRow.isUndelivered)
                    OR +state = 'dead' AND EXISTS (SELECT 1 FROM deliveries d
                        WHERE d.notification_id = o.notification_id AND (d.state IN ('ok', 'pending')
                            OR (d.state = 'given_up' OR d.state = 'rejected' AND d.carried_by IS NOT NULL)
                                AND d.sink IN (SELECT value FROM json_each(?2)))))
                GROUP BY 1, 2, 4 ORDER BY 1
                """,
                [list, names, nil, key]
            ) { row in
                (try row["notification_id"], try row["stream_id"], try row["count"], try row["is_dead"])
            }
            let undelivered = found.reduce(0) { $0 + ($1.isDead ? 0 : $1.rows) }
            var streams: [Int64] = []
            for (notification, stream, _, isDead) in found {
                let rows = try db.outbox.reopen(notification, of: stream, isDead: isDead, sinks: names, now, make)
                streams += Array(repeating: stream, count: rows)
            }
            streams += try db.formerStates.change(
                rows: "+state = 'dead' AND id IN (SELECT value FROM json_each(?3)) AND \(isOwn)",
                [list, key],
                as: .retried,
                to: "state = 'pending', finished_at = NULL, retry_count = 0, notification_id = NULL, reason = NULL",
                now
            ).map(\.stream)
            let total = try db.outbox.book(streams, as: .retried) { $0.dead = -$1 }
            db.context.record(.retried, undelivered)
            // If the sinks that rejected it are gone, the accepting sinks decide the result.
            for (notification, stream, _, _) in found { _ = try db.deliveries.settle(notification, stream, now) }
            return total + undelivered
        }
    }

    /// The rows among `ids` that cannot be retried, because they still do not open.
    package func unreadable(among ids: [Int64]) async throws(StoreError) -> [Int64] {
        try await store.direct(.read) { db in try db.outbox.unreadable(among: ids) }
    }
}

extension OutboxRows {
    /// Records an operator's change of rows in the ledgers.
    ///
    /// - Parameter streams: The stream of each changed row.
    /// - Returns: The number of changed rows.
    func book(_ streams: [Int64], as change: OutboxChange, entry: (inout Ledger, Int) -> Void) throws -> Int {
        for (stream, rows) in Dictionary(grouping: streams, by: \.self).sorted(by: { $0.key < $1.key }) {
            var delta = Ledger()
            entry(&delta, rows.count)
            try db.ledger.add(delta, to: stream)
        }
        db.context.record(change, streams.count)
        return streams.count
    }

    private static let countedStates: [OutboxState] = [.pending, .claimed, .delivered, .dead, .evicted]

    /// One count per state, because the index answers it three times as fast as a grouped query.
    private static let countByStream: String = {
        let counts = countedStates.map { state in
            """
            (SELECT count(*) FROM notification_outbox
                WHERE state = '\(state.rawValue)' AND stream_id = s.id AND \(Schema.isOpen)) AS \(state.rawValue)
            """
        }
        return "SELECT s.id, \(counts.joined(separator: ", ")) FROM streams s WHERE ?1 IS NULL OR s.id = ?1"
    }()

    /// The number of open and dead rows by stream and state.
    ///
    /// - Parameter stream: The only stream that is counted; `nil` counts all.
    func countsByStream(_ stream: Int64? = nil) throws -> [Int64: [OutboxState: Int]] {
        var found: [Int64: [OutboxState: Int]] = [:]
        let rows = try db.rows(Self.countByStream, [stream])
        while let row = try rows.next() {
            let stream: Int64 = try row["id"]
            for state in Self.countedStates {
                let count: Int = try row[state.rawValue]
                if count > 0 { found[stream, default: [:]][state] = count }
            }
        }
        return found
    }

    /// The creation time of the oldest row that is pending or claimed. Queried by stream and by notification, because indexes
    /// answer that.
    func oldestPending() throws -> Timestamp? {
        try db.value(
            """
            SELECT min(created_at) FROM (
                SELECT (SELECT min(created_at) FROM notification_outbox INDEXED BY idx_outbox_priority
                    WHERE state = 'pending' AND stream_id = s.id) AS created_at FROM streams s
                UNION ALL
                SELECT (SELECT min(created_at) FROM notification_outbox
                    WHERE state = 'claimed' AND notification_id = n.id) FROM notifications n WHERE n.state = 'open')
            """
        )
    }

    /// The rows among `ids` that were set aside and still do not open, or have lost a value.
    func unreadable(among ids: [Int64]) throws -> [Int64] {
        let rows = try db.rows(
            """
            SELECT id, stream_id, jwt_id, plan_id, name, is_offer, is_edition, fulfills_offer, details, notification_id
            FROM notification_outbox
            WHERE reason = '\(RowReason.unreadable.rawValue)' AND id IN (SELECT value FROM json_each(?))
            """,
            [jsonArray(ids)]
        )
        var unreadable: [Int64] = []
        while let row = try rows.next() {
            let notification: Int64? = try row["notification_id"]
            let found = try ifReadable { try change(row, of: row["stream_id"]) }
            // The text in place of a lost value opens like one.
            let opens = found.map { !Unreadable.isAmong([$0.plan, $0.name]) } ?? false
            if try !opens || notification.map(self.opens) == false { unreadable.append(try row["id"]) }
        }
        return unreadable
    }

    /// Whether the text of a notification opens; also true if there is no such notification any more.
    private func opens(_ notification: Int64) throws -> Bool {
        let found = try db.row("\(NotificationRows.allOutgoing) WHERE n.id = ?", [notification])
        guard let found else { return true }
        let text = try ifReadable { try db.notifications.outgoing(found) }
        return text.map { !Unreadable.isAmong([$0.title, $0.body]) } ?? false
    }

    /// Claims the dead rows of a notification again, and makes it due at the sinks that did not get it, without the rows
    /// that were discarded since.
    ///
    /// - Parameters:
    ///   - sinks: The current sinks, as JSON.
    ///   - isDead: Whether its rows are dead. Delivered ones stay as they are.
    /// - Returns: The number of rows.
    func reopen(
        _ notification: Int64,
        of stream: Int64,
        isDead: Bool,
        sinks: String,
        _ now: Timestamp,
        _ make: NotificationRenewal
    ) throws -> Int {
        let carriers = try db.deliveries.failedCarriers(of: [notification])
        for id in carriers + [notification] { try db.formerStates.keep(notification: id, as: .retried, now) }
        if isDead {
            try db.formerStates.keep(
                rows: "state = 'dead' AND stream_id = ?3 AND notification_id = ?4",
                [stream, notification],
                as: .retried,
                now
            )
        }
        // A sink can know the id of the carrier, so that brings the notification there again.
        for id in carriers + [notification] { try db.deliveries.reopen(id, sinks: sinks, now) }
        for id in carriers {
            try db.deliveries.rejoin(id, now)
            // None of its sinks may be left. It has no rows, so its stream does not matter.
            _ = try db.deliveries.settle(id, stream, now)
        }
        let rows = try db.changed(
            """
            UPDATE notification_outbox SET state = 'claimed', finished_at = NULL, retry_count = 0, reason = NULL
            WHERE state = 'dead' AND stream_id = ?1 AND notification_id = ?2
            """,
            [stream, notification]
        )
        if isDead, rows == 0 {
            try db.notifications.cancel(notification, now)
        } else {
            try db.notifications.renew(notification, of: stream, now, make)
        }
        return rows
    }
}
