extension Schema {
    /// The changes of version 4: the sums of all ledgers at earlier times, for the totals of the last day, and whether a
    /// row's `plan_id` is the handle of an offer without a plan. The first sample has time 0, so it precedes
    /// every total. Rows that wait at the migration keep the link of a project.
    static let version4 = """
        CREATE TABLE ledger_samples (
            taken_at INTEGER PRIMARY KEY,
            new INTEGER NOT NULL, delivered INTEGER NOT NULL, acknowledged INTEGER NOT NULL, dead INTEGER NOT NULL
        ) STRICT;
        INSERT INTO ledger_samples SELECT 0, new, delivered, acknowledged, dead FROM ledger_totals;
        ALTER TABLE notification_outbox ADD COLUMN is_offer INTEGER NOT NULL DEFAULT 0 CHECK (is_offer IN (0, 1));

        """
}
