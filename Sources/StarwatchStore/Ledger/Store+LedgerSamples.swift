package import StarwatchCore

extension Store {
    /// The interval of samples. The totals of a day cover at most this much more.
    package static let sampleInterval = Duration.seconds(900)

    /// Records the present sums of all ledgers, if the last sample is old enough, and deletes samples that no total
    /// needs.
    package func sampleLedger(now: Timestamp) throws(StoreError) {
        try write(.log) { db in
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
    package func ledgerOfLastDay(now: Timestamp) throws(StoreError) -> Ledger {
        try direct(.read) { db in
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
