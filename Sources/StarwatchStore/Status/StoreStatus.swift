package import StarwatchCore
import Synchronization

/// The state of the database as a whole.
package struct StoreStatus: Sendable {
    let store: Store

    /// A consistent read of everything that status and metrics show. The cost depends on the open rows only.
    package func snapshot(_ streams: [StreamKey]) async throws(StoreError) -> StoreSnapshot {
        try await store.perform { store throws(StoreError) in
            let snapshot = try store.direct(.snapshot) { db in try db.ledger.snapshot(of: Set(streams)) }
            // Not remembered if a host application can write, as in `StorePolls`.
            if store.options.owner == .agent { store.memory.snapshot.withLock { $0 = (streams, snapshot) } }
            return snapshot
        }
    }

    /// The result of ``snapshot(_:)`` from memory; `nil` if something was written since the last one.
    ///
    /// Does not notice that the store has failed since.
    package func rememberedSnapshot(_ streams: [StreamKey]) -> StoreSnapshot? {
        guard store.memory.accounts.isWritten else { return nil }
        return store.memory.snapshot.withLock { $0?.streams == streams ? $0?.snapshot : nil }
    }

    /// Whether the path does not name the open file any more: it was deleted, moved or replaced.
    package var isFileLost: Bool {
        store.memory.file?.isLost(from: store.options.path) ?? false
    }

    /// Copies a database whose file is lost to `DATABASE.rescued`, in place of an earlier copy. The open file ends with the
    /// process.
    ///
    /// - Returns: The copy's file name; `nil` if the file is not lost.
    package func rescue(now: Timestamp) async throws(StoreError) -> String? {
        try await store.perform { store throws(StoreError) in
            let (file, path) = (store.memory.file, store.options.path)
            do { return try DatabaseFile.rescue(store.database, of: file, at: path, now: now) } catch {
                throw StoreError(error)
            }
        }
    }

    /// The sizes of the database's files in bytes, and the bytes that an unprivileged process can still write on the device;
    /// `nil` if there is no file, or if these are unknown.
    package func fileSizes() -> (database: Int, wal: Int, freeDisk: Int?)? {
        guard DatabaseFile.Identity(path: store.options.path) != nil else { return nil }
        return (
            database: DatabaseFile.bytes(path: store.options.path),
            wal: DatabaseFile.bytes(path: store.options.path + "-wal"),
            freeDisk: DatabaseFile.freeBytes(path: store.options.path)
        )
    }

    /// Moves the write-ahead log into the database and empties it. Readers in other processes can prevent a part of
    /// that.
    package func checkpoint() async throws(StoreError) {
        _ = try await store.perform { store throws(StoreError) in try Self.emptyLog(of: store) }
    }

    /// Empties the write-ahead log.
    ///
    /// - Returns: Whether it is empty.
    static func emptyLog(of store: isolated Store) throws(StoreError) -> Bool {
        try store.pageCheck.pause { () throws(StoreError) in
            try store.direct(.checkpoint) { db in try db.checkpointAll() }
        }
    }

    package var pageCheckPhase: PageCheckPhase { store.pageCheck.phase }

    /// Checks all pages if that was left for later, while other work goes on.
    ///
    /// After damage every access throws ``StoreError/corrupt(detail:)``, and the next start checks all pages first.
    ///
    /// - Throws: ``StoreError/corrupt(detail:)`` for damage, any other error if the check was not possible.
    package func checkPages() async throws(StoreError) {
        guard store.pageCheck.phase == .running else { return }
        do {
            try await store.pageCheck.run()
            store.pageCheck.phase = .passed
        } catch {
            let error = StoreError(error)
            guard case .corrupt = error else {
                store.pageCheck.phase = .ended
                throw error
            }
            // Refuses all further work.
            try await store.perform { store throws(StoreError) in
                store.context.damage = error
                store.pageCheck.phase = .damaged
                store.health.failed(.corrupt)
                store.options.observer?.failed(.corrupt)
                store.pageCheck.noteDamage()
            }
            throw error
        }
    }

    /// Checks the database with a small read. After an error it checks with a write, and after damage it also checks
    /// all pages. If that succeeds, ``Store/health`` is good again.
    ///
    /// - Parameter writes: Whether to write even if the store is healthy.
    package func probe(writes: Bool = false) async throws(StoreError) {
        try await store.perform { store throws(StoreError) in
            let failure = store.health.failure
            guard writes || failure != nil else {
                return try store.direct(.read) { db in _ = try db.integer("SELECT id FROM active_identity") }
            }
            try store.write(.read) { db in
                if failure == .corrupt { try db.checkPages() }
                // SQLite does not write a row whose values do not change, so the value changes in between.
                try db.run("UPDATE active_identity SET generation = generation + 1")
                try db.run("UPDATE active_identity SET generation = generation - 1")
            }
            store.health.recovered()
        }
    }

    /// Calls `answer` after all earlier work; never if the store is blocked.
    package func whenIdle(_ answer: @escaping @Sendable () -> Void) { store.executor.run(answer) }
}

extension LedgerRows {
    func snapshot(of wanted: Set<StreamKey>) throws -> StoreSnapshot {
        let counts = try db.outbox.countsByStream()
        var total: [OutboxState: Int] = [.pending: 0, .claimed: 0, .delivered: 0, .dead: 0, .evicted: 0]
        for rows in counts.values { total.merge(rows, uniquingKeysWith: +) }
        var found: [StreamKey: StreamSnapshot] = [:]
        var (fetchedImbalance, newImbalance) = (0, 0)
        let rows = try db.rows(Self.streams)
        while let row = try rows.next() {
            let ledger = try Self.ledger(row)
            let open = counts[try row["id"]] ?? [:]
            let undecided = [OutboxState.pending, .claimed, .evicted].reduce(0) { $0 + (open[$1] ?? 0) }
            fetchedImbalance += abs(ledger.fetchedImbalance)
            newImbalance += abs(ledger.newImbalance(pending: undecided))
            // With many accounts no stream is asked for, and each would take a key.
            guard !wanted.isEmpty else { continue }
            let stream = try ifReadable { try db.streams.stream(row) }
            guard let stream, wanted.contains(stream) else { continue }
            found[stream] = try StreamSnapshot(row, ledger, rows: open)
        }
        return StoreSnapshot(
            identity: try db.identity.active(),
            streams: found,
            rows: total,
            oldestPending: try db.outbox.oldestPending(),
            oldestDead: try db.value("SELECT min(finished_at) FROM notification_outbox WHERE state = 'dead'"),
            backlogs: try db.deliveries.backlogs(),
            undelivered: try undelivered(),
            fetchedImbalance: fetchedImbalance,
            newImbalance: newImbalance,
            quarantined: try db.outbox.quarantinedCount(),
            totals: try db.ledger.totals()
        )
    }

    private static let streams = """
        SELECT \(Self.columns), s.account, s.server, s.poll, s.id, s.fetch_cursor,
            s.last_attempt, s.last_success, s.last_new, s.last_outcome, s.next_run,
            s.seen_until,
            s.last_notified_at, w.watermark,
            (SELECT min(created_at) FROM notification_outbox INDEXED BY idx_outbox_priority
                WHERE state = 'pending' AND stream_id = s.id)
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

    /// The number of notifications whose rows are finished, and that an optional sink did not get. Usually there are
    /// none, and the index answers at once. Without `CROSS JOIN` SQLite would read all notifications.
    func undelivered() throws -> Int {
        try db.integer(
            """
            SELECT count(DISTINCT n.id) FROM deliveries d CROSS JOIN notifications n ON n.id = d.notification_id
            WHERE d.\(Schema.isLost) AND n.state IN ('open', 'delivered')
                AND EXISTS (SELECT 1 FROM notification_outbox o WHERE o.stream_id = n.stream_id
                    AND o.notification_id = n.id AND o.state IN ('delivered', 'acknowledged'))
            """
        )
    }
}

extension StreamSnapshot {
    fileprivate init(_ row: SQLRow, _ ledger: Ledger, rows: [OutboxState: Int]) throws {
        watermark = try row["watermark"]
        fetchCursor = try row["fetch_cursor"]
        lastAttempt = try row["last_attempt"]
        lastSuccess = try row["last_success"]
        lastNew = try row["last_new"]
        lastOutcome = (try row["last_outcome"] as String?).flatMap(PollOutcome.init(rawValue:))
        nextRun = try row["next_run"]
        seenUntil = try row["seen_until"]
        lastNotifiedAt = try row["last_notified_at"]
        oldestPending = try row["oldest_pending"]
        self.ledger = ledger
        self.rows = rows
        lastReason = (try row["last_reason"] as String?).flatMap { FailureReason($0) }
        failingSince = try row["failing_since"]
        failures = try row["failures"]
    }
}
