package import StarwatchCore

extension StoreStatus {
    /// The ledger of one stream; all zero for an unknown stream.
    package func ledger(_ stream: StreamKey) async throws(StoreError) -> Ledger {
        try await store.direct(.read, of: stream) { db, id in try db.ledger.of(id) }
    }

    /// The sums of all ledgers' entries since the database began. They never fall.
    package func ledgerTotals() async throws(StoreError) -> Ledger {
        try await store.direct(.read) { db in try db.ledger.totals() }
    }

    /// The interval of samples. The totals of a day cover at most this much more.
    package static let sampleInterval = Duration.seconds(900)

    /// Records the present sums of all ledgers, if the last sample is old enough, and deletes samples that no total
    /// needs.
    package func sampleLedger(now: Timestamp) async throws(StoreError) {
        try await store.write(.log) { db in
            let sample = "SELECT ?, new, delivered, acknowledged, dead FROM ledger_totals"
            // The clock was set back.
            try db.run("DELETE FROM ledger_samples WHERE taken_at > ?", [now.milliseconds])
            let newest: Timestamp? = try db.value("SELECT max(taken_at) FROM ledger_samples")
            if let newest, now - newest < Self.sampleInterval { return }
            try db.run("INSERT INTO ledger_samples \(sample)", [now.milliseconds])
            try db.run(
                """
                DELETE FROM ledger_samples WHERE taken_at <
                    (SELECT max(taken_at) FROM ledger_samples WHERE taken_at <= ?)
                """,
                [(now - .days(1)).milliseconds]
            )
        }
    }

    /// The numbers of changes of the last 24 hours: ``Ledger/new``, ``Ledger/delivered``, ``Ledger/acknowledged`` and
    /// ``Ledger/dead``. The other entries are 0. Unlike the rows they survive retention.
    package func ledgerOfLastDay(now: Timestamp) async throws(StoreError) -> Ledger {
        try await store.direct(.read) { db in
            var day = Ledger()
            let row = try db.row(
                """
                SELECT t.new - s.new AS new, t.delivered - s.delivered AS delivered,
                    t.acknowledged - s.acknowledged AS acknowledged, t.dead - s.dead AS dead
                FROM ledger_totals t JOIN ledger_samples s
                ORDER BY s.taken_at <= ?1 DESC, iif(s.taken_at <= ?1, -s.taken_at, s.taken_at) LIMIT 1
                """,
                [(now - .days(1)).milliseconds]
            )
            guard let row else { return day }
            (day.new, day.delivered) = (try row["new"], try row["delivered"])
            (day.acknowledged, day.dead) = (try row["acknowledged"], try row["dead"])
            return day
        }
    }
}

/// The numbers of changes, by stream and in all.
struct LedgerRows {
    let db: Session

    static let columns =
        "fetched, new, duplicate, rejected, delivered, dead, cancelled, suppressed, evicted, acknowledged"

    static func ledger(_ row: SQLRow) throws -> Ledger {
        var ledger = Ledger()
        ledger.fetched = try row["fetched"]
        ledger.new = try row["new"]
        ledger.duplicate = try row["duplicate"]
        ledger.rejected = try row["rejected"]
        ledger.delivered = try row["delivered"]
        ledger.dead = try row["dead"]
        ledger.cancelled = try row["cancelled"]
        ledger.suppressed = try row["suppressed"]
        ledger.evicted = try row["evicted"]
        ledger.acknowledged = try row["acknowledged"]
        return ledger
    }

    func of(_ stream: Int64) throws -> Ledger {
        try db.row("SELECT \(Self.columns) FROM ledger WHERE stream_id = ?", [stream]).map(Self.ledger) ?? Ledger()
    }

    /// Adds to one entry of a stream's ledger.
    func add(_ count: Int, as entry: WritableKeyPath<Ledger, Int>, to stream: Int64) throws {
        var delta = Ledger()
        delta[keyPath: entry] = count
        try add(delta, to: stream)
    }

    /// One row, which a trigger keeps.
    func totals() throws -> Ledger {
        try db.row("SELECT \(Self.columns) FROM ledger_totals").map(Self.ledger) ?? Ledger()
    }

    /// Adds to a stream's ledger, in the transaction that changes the rows.
    func add(_ delta: Ledger, to stream: Int64) throws {
        guard delta != Ledger() else { return }
        try db.run(
            """
            UPDATE ledger SET fetched = fetched + ?, new = new + ?, duplicate = duplicate + ?,
                rejected = rejected + ?, delivered = delivered + ?, dead = dead + ?, cancelled = cancelled + ?,
                suppressed = suppressed + ?, evicted = evicted + ?, acknowledged = acknowledged + ?
            WHERE stream_id = ?
            """,
            [
                delta.fetched, delta.new, delta.duplicate, delta.rejected, delta.delivered, delta.dead,
                delta.cancelled, delta.suppressed, delta.evicted, delta.acknowledged, stream,
            ]
        )
    }
}
