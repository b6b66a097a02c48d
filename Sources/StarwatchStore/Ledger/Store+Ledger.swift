import GRDB
package import StarwatchCore

extension Store {
    /// The ledger of one stream; all zero for an unknown stream.
    package func ledger(_ stream: StreamKey) throws(StoreError) -> Ledger {
        let id = try streamID(stream)
        return try direct(.read) { db in try db.ledger(id) }
    }

    /// The sums of all ledgers' entries since the database began. They never fall.
    package func ledgerTotals() throws(StoreError) -> Ledger {
        try direct(.read) { db in try db.ledgerTotals() }
    }

    /// The imbalance over all streams, including those of former identities.
    package func imbalances() throws(StoreError) -> LedgerImbalance {
        try direct(.read) { db in try db.imbalance() }
    }
}

extension Database {
    static let ledgerColumns =
        "fetched, new, duplicate, rejected, delivered, dead, cancelled, suppressed, evicted, acknowledged"

    static func ledger(_ row: Row) -> Ledger {
        var ledger = Ledger()
        ledger.fetched = row[0]
        ledger.new = row[1]
        ledger.duplicate = row[2]
        ledger.rejected = row[3]
        ledger.delivered = row[4]
        ledger.dead = row[5]
        ledger.cancelled = row[6]
        ledger.suppressed = row[7]
        ledger.evicted = row[8]
        ledger.acknowledged = row[9]
        return ledger
    }

    func ledger(_ stream: Int64) throws -> Ledger {
        try row("SELECT \(Self.ledgerColumns) FROM ledger WHERE stream_id = ?", [stream]).map(Self.ledger) ?? Ledger()
    }

    /// One row, which a trigger keeps.
    func ledgerTotals() throws -> Ledger {
        try row("SELECT \(Self.ledgerColumns) FROM ledger_totals").map(Self.ledger) ?? Ledger()
    }

    /// Adds to a stream's ledger, in the transaction that changes the rows.
    func add(_ delta: Ledger, to stream: Int64) throws {
        guard delta != Ledger() else { return }
        try run(
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

    /// The number of undecided rows by stream: pending, claimed and evicted ones.
    func undecidedRows() throws -> [Int64: Int] {
        var found: [Int64: Int] = [:]
        let rows = try rows(
            """
            SELECT stream_id, count(*) FROM notification_outbox
            WHERE state IN ('pending', 'claimed', 'evicted') AND \(Schema.isOpen) GROUP BY stream_id
            """
        )
        while let row = try rows.next() { found[row[0]] = row[1] }
        return found
    }

    func imbalance() throws -> LedgerImbalance {
        let undecided = try undecidedRows()
        var sum = LedgerImbalance()
        let rows = try rows("SELECT \(Self.ledgerColumns), stream_id FROM ledger")
        while let row = try rows.next() {
            let ledger = Self.ledger(row)
            sum.fetched += abs(ledger.fetchedImbalance)
            sum.new += abs(ledger.newImbalance(pending: undecided[row[10]] ?? 0))
        }
        return sum
    }
}
