package import StarwatchCore

/// The sizes of the database's files in bytes.
package struct FileSizes: Sendable, Hashable {
    package let database: Int
    package let wal: Int
    /// The bytes that an unprivileged process can still write on the device.
    package let freeDisk: Int
}

extension Store {
    /// A consistent read of everything that status and metrics show. The cost depends on the open rows only.
    package func snapshot(_ streams: [StreamKey]) throws(StoreError) -> StoreSnapshot {
        let wanted = Set(streams)
        let snapshot = try direct(.snapshot) { db in
            let counts = try db.countsByStream()
            var total: [OutboxState: Int] = [.pending: 0, .claimed: 0, .delivered: 0, .dead: 0, .evicted: 0]
            for rows in counts.values { total.merge(rows, uniquingKeysWith: +) }
            var found: [StreamKey: StreamSnapshot] = [:]
            var imbalance = LedgerImbalance()
            let rows = try db.rows(
                """
                SELECT \(Session.ledgerColumns), s.account, s.server, s.poll, s.id, s.fetch_cursor,
                    s.bootstrapped_at, s.last_attempt, s.last_success, s.last_outcome, s.next_run,
                    s.last_notified_at, w.watermark,
                    (SELECT min(created_at) FROM notification_outbox WHERE state = 'pending' AND stream_id = s.id)
                        AS oldest_pending,
                    CASE WHEN s.last_outcome IN ('failed', 'deferred') THEN
                        (SELECT reason FROM history NOT INDEXED WHERE stream_id = s.id ORDER BY id DESC LIMIT 1)
                    END AS last_reason,
                    CASE WHEN s.last_outcome IN ('failed', 'deferred') THEN
                        (SELECT finished_at FROM history WHERE stream_id = s.id
                            AND finished_at > coalesce(s.last_success, 0) AND outcome IN ('failed', 'deferred')
                            ORDER BY finished_at LIMIT 1)
                    END AS failing_since,
                    CASE WHEN s.last_outcome IN ('failed', 'deferred', 'cancelled') THEN
                        (SELECT count(*) FROM (SELECT 1 FROM history WHERE stream_id = s.id
                            AND finished_at > coalesce(s.last_success, 0) AND outcome IN ('failed', 'deferred')
                            LIMIT \(HealthFacts.Poll.failingAfter)))
                    ELSE 0 END AS failures
                FROM streams s JOIN ledger l ON l.stream_id = s.id
                LEFT JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll
                """
            )
            while let row = try rows.next() {
                let ledger = try Session.ledger(row)
                let open = counts[try row["id"]] ?? [:]
                let undecided = [OutboxState.pending, .claimed, .evicted].reduce(0) { $0 + (open[$1] ?? 0) }
                imbalance.fetched += abs(ledger.fetchedImbalance)
                imbalance.new += abs(ledger.newImbalance(pending: undecided))
                let stream = try ifReadable { try db.stream(row) }
                guard let stream, wanted.contains(stream) else { continue }
                found[stream] = StreamSnapshot(
                    watermark: try row["watermark"],
                    fetchCursor: try row["fetch_cursor"],
                    bootstrapped: try row["bootstrapped_at"] as Timestamp? != nil,
                    lastAttempt: try row["last_attempt"],
                    lastSuccess: try row["last_success"],
                    lastOutcome: (try row["last_outcome"] as String?).flatMap(PollOutcome.init(rawValue:)),
                    nextRun: try row["next_run"],
                    lastNotifiedAt: try row["last_notified_at"],
                    oldestPending: try row["oldest_pending"],
                    ledger: ledger,
                    rows: open,
                    lastReason: (try row["last_reason"] as String?).flatMap { FailureReason($0) },
                    failingSince: try row["failing_since"],
                    failures: try row["failures"]
                )
            }
            return StoreSnapshot(
                identity: try db.activeIdentity(),
                streams: found,
                rows: total,
                ages: try db.ages(),
                backlogs: try db.sinkBacklogs(),
                undelivered: try undeliveredNotifications(db),
                imbalance: imbalance,
                quarantined: try db.quarantined(),
                totals: try db.ledgerTotals()
            )
        }
        // Not remembered if a host application can write, as in `PollMemory`.
        if options.owner == .agent { snapshotMemory.remember(snapshot, of: streams) }
        return snapshot
    }

    /// The number of notifications whose rows are finished, and that an optional sink did not get. Usually there are
    /// none, and the index answers at once. Without `CROSS JOIN` SQLite would read all notifications.
    private func undeliveredNotifications(_ db: Session) throws -> Int {
        try db.integer(
            """
            SELECT count(DISTINCT n.id) FROM deliveries d CROSS JOIN notifications n ON n.id = d.notification_id
            WHERE d.\(Schema.isLost) AND n.state IN ('open', 'delivered')
                AND EXISTS (SELECT 1 FROM notification_outbox o WHERE o.stream_id = n.stream_id
                    AND o.notification_id = n.id AND o.state IN ('delivered', 'acknowledged'))
            """
        )
    }

    /// The result of ``snapshot(_:)`` from memory; `nil` if something was written since the last one.
    ///
    /// Does not notice that the store has failed since.
    package nonisolated func rememberedSnapshot(_ streams: [StreamKey]) -> StoreSnapshot? {
        unchanged.isEmpty ? snapshotMemory.snapshot(of: streams) : nil
    }

    /// The sizes of the files, from the file system.
    package nonisolated func fileSizes() -> FileSizes {
        FileSizes(
            database: DatabaseFile.bytes(path: options.path),
            wal: DatabaseFile.bytes(path: options.path + "-wal"),
            freeDisk: DatabaseFile.freeBytes(path: options.path)
        )
    }

    /// Moves the write-ahead log into the database and empties it. Readers in other processes can prevent a part of
    /// that.
    package func checkpoint() throws(StoreError) { _ = try emptyLog() }

    /// The same, and returns whether the log is empty.
    func emptyLog() throws(StoreError) -> Bool {
        try pageCheck.pause { () throws(StoreError) in
            try direct(.checkpoint) { db in try db.checkpointAll() }
        }
    }
}
