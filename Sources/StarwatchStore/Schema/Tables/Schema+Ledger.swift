extension Schema {
    /// The sums of all ledgers' entries, for counters that survive a restart and a crash.
    ///
    /// The ledgers cannot be those counters: their entries can fall, for example when a dead letter is retried, and they
    /// are deleted with their account. A trigger adds every rise, in the transaction of the rise.
    static let ledgerTotals = """
        CREATE TABLE ledger_totals (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            fetched INTEGER NOT NULL, new INTEGER NOT NULL,
            duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
            delivered INTEGER NOT NULL, dead INTEGER NOT NULL,
            cancelled INTEGER NOT NULL, suppressed INTEGER NOT NULL,
            evicted INTEGER NOT NULL, acknowledged INTEGER NOT NULL
        ) STRICT;
        CREATE TRIGGER ledger_rises AFTER UPDATE ON ledger BEGIN
            UPDATE ledger_totals SET fetched = fetched + max(0, NEW.fetched - OLD.fetched),
                new = new + max(0, NEW.new - OLD.new),
                duplicate = duplicate + max(0, NEW.duplicate - OLD.duplicate),
                rejected = rejected + max(0, NEW.rejected - OLD.rejected),
                delivered = delivered + max(0, NEW.delivered - OLD.delivered),
                dead = dead + max(0, NEW.dead - OLD.dead),
                cancelled = cancelled + max(0, NEW.cancelled - OLD.cancelled),
                suppressed = suppressed + max(0, NEW.suppressed - OLD.suppressed),
                evicted = evicted + max(0, NEW.evicted - OLD.evicted),
                acknowledged = acknowledged + max(0, NEW.acknowledged - OLD.acknowledged);
        END;

        """

    /// The sums of all ledgers at earlier times, for the totals of the last day. The first sample has time 0, so it
    /// precedes every total.
    static let ledgerSamples = """
        CREATE TABLE ledger_samples (
            taken_at INTEGER PRIMARY KEY,
            new INTEGER NOT NULL, delivered INTEGER NOT NULL, acknowledged INTEGER NOT NULL, dead INTEGER NOT NULL
        ) STRICT;

        """
}
