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
            // The clock was set back.
            try db.run("DELETE FROM ledger_samples WHERE taken_at > ?", [now.milliseconds])
            let newest: Timestamp? = try db.value("SELECT max(taken_at) FROM ledger_samples")
            if let newest, now - newest < Self.sampleInterval { return }
            let totals = try db.ledger.totals()
            try db.run(
                "INSERT INTO ledger_samples (taken_at, new, delivered, acknowledged, dead) VALUES (?, ?, ?, ?, ?)",
                [now.milliseconds, totals.new, totals.delivered, totals.acknowledged, totals.dead]
            )
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
                SELECT new, delivered, acknowledged, dead FROM ledger_samples
                ORDER BY CASE WHEN taken_at <= ?1 THEN 0 ELSE 1 END,
                    CASE WHEN taken_at <= ?1 THEN -taken_at ELSE taken_at END LIMIT 1
                """,
                [(now - .days(1)).milliseconds]
            )
            guard let row else { return day }
            let totals = try db.ledger.totals()
            (day.new, day.delivered) = (totals.new - (try row["new"]), totals.delivered - (try row["delivered"]))
            day.acknowledged = totals.acknowledged - (try row["acknowledged"])
            day.dead = totals.dead - (try row["dead"])
            return day
        }
    }
}

/// The numbers of changes, by stream and in all.
struct LedgerRows {
    let db: Session

    /// The entries of a ledger and their columns.
    private static let entries: [(column: String, path: any WritableKeyPath<Ledger, Int> & Sendable)] = [
        ("fetched", \.fetched), ("new", \.new), ("duplicate", \.duplicate), ("rejected", \.rejected),
        ("delivered", \.delivered), ("dead", \.dead), ("cancelled", \.cancelled), ("suppressed", \.suppressed),
        ("evicted", \.evicted), ("acknowledged", \.acknowledged),
    ]

    static let columns = entries.map(\.column).joined(separator: ", ")

    static func ledger(_ row: SQLRow) throws -> Ledger {
        try entries.reduce(into: Ledger()) { $0[keyPath: $1.path] = try row[$1.column] }
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

    /// The sums of the rows of all starts.
    func totals() throws -> Ledger {
        let sums = Self.entries.map { "coalesce(sum(\($0.column)), 0) AS \($0.column)" }
        return try db.row("SELECT \(sums.joined(separator: ", ")) FROM ledger_totals").map(Self.ledger) ?? Ledger()
    }

    /// Adds every rise to the totals of this start of the process.
    ///
    /// The ledgers cannot be those totals: their entries can fall, for example when a dead letter is retried, and they are
    /// deleted with their account.
    private func addRises(_ delta: Ledger) throws {
        let rises = Self.entries.map { max(0, delta[keyPath: $0.path]) }
        guard rises.contains(where: { $0 > 0 }) else { return }
        try mergeFormerStarts()
        try db.run(Self.rise, [db.context.start] + SQLArguments(rises))
    }

    private static let rise: String = {
        let names = entries.map(\.column)
        return """
            INSERT INTO ledger_totals (start, \(columns)) VALUES (?\(names.map { _ in ", ?" }.joined()))
            ON CONFLICT (start) DO UPDATE SET
                \(names.map { "\($0) = ledger_totals.\($0) + excluded.\($0)" }.joined(separator: ", "))
            """
    }()

    /// Adds the rows of former starts into one, at the first rise of this one. Their processes have ended, because one at a
    /// time has the database.
    private func mergeFormerStarts() throws {
        guard !db.context.hasMergedTotals else { return }
        db.context.hasMergedTotals = true
        let former = "SELECT count(*) FROM ledger_totals WHERE start NOT IN ('', ?)"
        guard try db.integer(former, [db.context.start]) > 0 else { return }
        let names = Self.entries.map(\.column)
        try db.run(
            """
            INSERT INTO ledger_totals (start, \(Self.columns))
            SELECT '', \(names.map { "coalesce(sum(\($0)), 0)" }.joined(separator: ", ")) FROM ledger_totals
            WHERE start <> ?
            ON CONFLICT (start) DO UPDATE SET \(names.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
            """,
            [db.context.start]
        )
        try db.run("DELETE FROM ledger_totals WHERE start NOT IN ('', ?)", [db.context.start])
    }

    private static let sum: String = {
        let sums = entries.map { "\($0.column) = \($0.column) + ?" }
        return "UPDATE ledger SET \(sums.joined(separator: ", ")) WHERE stream_id = ?"
    }()

    /// Adds to a stream's ledger, in the transaction that changes the rows.
    func add(_ delta: Ledger, to stream: Int64) throws {
        guard delta != Ledger() else { return }
        try addRises(delta)
        try db.run(Self.sum, SQLArguments(Self.entries.map { delta[keyPath: $0.path] }) + [stream])
    }
}
