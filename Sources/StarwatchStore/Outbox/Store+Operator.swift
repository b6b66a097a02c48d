import GRDB
package import StarwatchCore

/// When the oldest rows of two sorts were stored or ended; `nil` where there is none.
///
/// Since when a row has been due depends on how changes are grouped, which the dispatcher knows.
package struct OutboxAges: Sendable, Hashable {
    /// The oldest row that is pending or claimed.
    package let oldestPending: Timestamp?
    package let oldestDead: Timestamp?
}

extension Store {
    /// Rows by id, as many as the filter says.
    package func outbox(_ filter: OutboxFilter) throws(StoreError) -> [OutboxRow] {
        var sql = """
            SELECT \(OutboxRow.columns) FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
            WHERE o.id \(filter.isNewestFirst ? "<" : ">") ?
            """
        var arguments: StatementArguments = [filter.after ?? (filter.isNewestFirst ? .max : 0)]
        if let states = filter.states {
            let words = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            sql += " AND o.state IN (\(words))"
        }
        if let poll = filter.poll {
            sql += " AND s.poll = ?"
            arguments += [poll.rawValue]
        }
        if let account = filter.account {
            sql += " AND s.account = ?"
            arguments += [account.rawValue]
        }
        sql += " ORDER BY o.id\(filter.isNewestFirst ? " DESC" : "") LIMIT ?"
        arguments += [filter.limit]
        return try direct(.read) { db in
            var found: [OutboxRow] = []
            let rows = try db.rows(sql, arguments)
            while let row = try rows.next() { found.append(try OutboxRow(row)) }
            return found
        }
    }

    /// One row with its deliveries; `nil` if there is none of that id.
    package func outboxRow(_ id: Int64) throws(StoreError) -> OutboxDetail? {
        try direct(.read) { db in
            let row = try db.row(
                """
                SELECT \(OutboxRow.columns), o.notification_id
                FROM notification_outbox o JOIN streams s ON s.id = o.stream_id WHERE o.id = ?
                """,
                [id]
            )
            guard let row else { return nil }
            return OutboxDetail(row: try OutboxRow(row), deliveries: try db.deliveries(of: row[15]))
        }
    }

    /// The ids of all dead rows, of one poll or of all.
    ///
    /// - Parameter isActiveOnly: Only those of the active identity, which ``retry(_:now:)`` takes.
    package func deadRows(poll: PollName?, isActiveOnly: Bool) throws(StoreError) -> [Int64] {
        try direct(.read) { db in
            let rows = try db.rows(
                """
                SELECT o.id FROM notification_outbox o JOIN streams s ON s.id = o.stream_id
                WHERE o.state = 'dead' AND (?1 IS NULL OR s.poll = ?1)
                    AND (?2 = 0 OR s.account = (SELECT activeDid FROM active_identity))
                ORDER BY o.id
                """,
                [poll?.rawValue, isActiveOnly]
            )
            var ids: [Int64] = []
            while let row = try rows.next() { ids.append(row[0]) }
            return ids
        }
    }

    /// Has dead rows of the active identity delivered again, with all their tries. Other ids are passed over.
    ///
    /// They become pending, for a new notification; but what some sinks have goes only to those that refused it, in the
    /// notification it was in, with all its dead rows.
    ///
    /// - Parameter sinks: The sinks that there are now.
    /// - Returns: How many rows changed.
    package func retry(_ ids: [Int64], sinks: [String], now: Timestamp) throws(StoreError) -> Int {
        try write(.edit) { db in
            let (list, names) = (jsonArray(ids), try jsonArray(sinks))
            let isActive = """
                stream_id IN (SELECT id FROM streams WHERE account = (SELECT activeDid FROM active_identity))
                """
            var partial: [(notification: Int64, stream: Int64)] = []
            let found = try db.rows(
                """
                SELECT DISTINCT notification_id, stream_id FROM notification_outbox o
                WHERE +state = 'dead' AND id IN (SELECT value FROM json_each(?)) AND \(isActive) AND EXISTS
                    (SELECT 1 FROM deliveries d WHERE d.notification_id = o.notification_id AND d.state = 'ok')
                ORDER BY notification_id
                """,
                [list]
            )
            while let row = try found.next() { partial.append((row[0], row[1])) }
            var streams: [Int64: Int] = [:]
            for (notification, stream) in partial {
                streams[stream, default: 0] += try db.reopen(notification, of: stream, sinks: names, now)
            }
            let rows = try db.rows(
                """
                UPDATE notification_outbox
                SET state = 'pending', finished_at = NULL, retry_count = 0, notification_id = NULL
                WHERE +state = 'dead' AND id IN (SELECT value FROM json_each(?)) AND \(isActive) RETURNING stream_id
                """,
                [list]
            )
            while let row = try rows.next() { streams[row[0], default: 0] += 1 }
            let total = try book(streams, as: .retried, db) { $0.dead = -$1 }
            // Where the sinks that refused it are gone, those that have it are all there are.
            for (notification, stream) in partial { _ = try settle(notification, stream, db, now) }
            return total
        }
    }

    /// Gives dead rows up for good: they become `cancelled`. Other ids are passed over.
    ///
    /// - Returns: How many rows changed.
    package func discard(_ ids: [Int64], now: Timestamp) throws(StoreError) -> Int {
        try write(.edit) { db in
            var streams: [Int64: Int] = [:]
            let rows = try db.rows(
                """
                UPDATE notification_outbox SET state = 'cancelled', finished_at = ?
                WHERE +state = 'dead' AND id IN (SELECT value FROM json_each(?)) RETURNING stream_id
                """,
                [now.milliseconds, jsonArray(ids)]
            )
            while let row = try rows.next() { streams[row[0], default: 0] += 1 }
            return try book(streams, as: .discarded, db) { entry, count in
                entry.dead = -count
                entry.cancelled = count
            }
        }
    }

    /// Enters an edit of so many rows of each stream; how many there are in all.
    private func book(
        _ streams: [Int64: Int],
        as change: OutboxChange,
        _ db: Database,
        entry: (inout Ledger, Int) -> Void
    ) throws -> Int {
        for (stream, count) in streams.sorted(by: { $0.key < $1.key }) {
            var delta = Ledger()
            entry(&delta, count)
            try db.add(delta, to: stream)
        }
        let total = streams.values.reduce(0, +)
        record(change, total)
        return total
    }

    /// Rows by state, for the states that are not an end, and dead ones; every one of them is there, at least with 0.
    package func outboxCounts() throws(StoreError) -> [OutboxState: Int] {
        try direct(.read) { db in
            var total: [OutboxState: Int] = [:]
            for counts in try countsByStream(db).values { total.merge(counts, uniquingKeysWith: +) }
            for state in [OutboxState.pending, .claimed, .delivered, .dead, .evicted] { total[state, default: 0] += 0 }
            return total
        }
    }

    /// Rows that are open or dead, by stream and state; counted again when something was written since.
    func countsByStream(_ db: Database) throws -> [Int64: [OutboxState: Int]] {
        if let openCounts { return openCounts }
        let counts = try db.countsByStream()
        // As with `PollMemory`.
        if options.owner == .agent { openCounts = counts }
        return counts
    }
}

extension Database {
    private static let countedStates: [OutboxState] = [.pending, .claimed, .delivered, .dead, .evicted]

    /// Range by range, which an index counts three times as fast as it groups.
    private static let countByStream: String = {
        let counts = countedStates.map { state in
            """
            (SELECT count(*) FROM notification_outbox
                WHERE state = '\(state.rawValue)' AND stream_id = s.id AND \(Schema.isOpen))
            """
        }
        return "SELECT s.id, \(counts.joined(separator: ", ")) FROM streams s"
    }()

    fileprivate func countsByStream() throws -> [Int64: [OutboxState: Int]] {
        var found: [Int64: [OutboxState: Int]] = [:]
        let rows = try rows(Self.countByStream)
        while let row = try rows.next() {
            for (index, state) in Self.countedStates.enumerated() where (row[index + 1] as Int) > 0 {
                found[row[0], default: [:]][state] = row[index + 1]
            }
        }
        return found
    }

    func ages() throws -> OutboxAges {
        let pending = try oldestCreated(.pending)
        let claimed = try oldestCreated(.claimed)
        let dead = try row("SELECT min(finished_at) FROM notification_outbox WHERE state = 'dead'")?.optionalTime(0)
        return OutboxAges(oldestPending: [pending, claimed].compactMap { $0 }.min(), oldestDead: dead)
    }

    /// When the oldest row of a state was stored; asked stream by stream, which an index answers at once.
    private func oldestCreated(_ state: OutboxState) throws -> Timestamp? {
        try row(
            """
            SELECT min((SELECT min(created_at) FROM notification_outbox
                WHERE state = '\(state.rawValue)' AND stream_id = streams.id)) FROM streams
            """
        )?.optionalTime(0)
    }
}

extension Database {
    /// Claims the dead rows of a notification for it again, and makes it due at the sinks that refused it; how many rows.
    ///
    /// - Parameter sinks: The sinks that there are, as JSON.
    fileprivate func reopen(_ notification: Int64, of stream: Int64, sinks: String, _ now: Timestamp) throws -> Int {
        try run("UPDATE notifications SET state = 'open', finished_at = NULL WHERE id = ?", [notification])
        try run(
            """
            UPDATE deliveries SET state = iif(sink IN (SELECT value FROM json_each(?1)), 'pending', 'gone'),
                rejections = 0, lease = lease + 1, leased_until = NULL, next_attempt_at = ?2, updated_at = ?2
            WHERE notification_id = ?3 AND state = 'rejected'
            """,
            [sinks, now.milliseconds, notification]
        )
        return try changed(
            """
            UPDATE notification_outbox SET state = 'claimed', finished_at = NULL, retry_count = 0
            WHERE state = 'dead' AND stream_id = ? AND notification_id = ?
            """,
            [stream, notification]
        )
    }
}
