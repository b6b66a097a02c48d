extension Schema {
    /// The sums of all ledgers at earlier times, for the totals of the last day. The first sample is from before
    /// everything.
    static let ledgerSamples = """
        CREATE TABLE ledger_samples (
            taken_at INTEGER PRIMARY KEY,
            new INTEGER NOT NULL, delivered INTEGER NOT NULL, acknowledged INTEGER NOT NULL, dead INTEGER NOT NULL
        ) STRICT;
        INSERT INTO ledger_samples SELECT 0, new, delivered, acknowledged, dead FROM ledger_totals;

        """
}
