extension Schema {
    /// The changes of version 4: samples of all ledgers, and whether a row's `plan_id` is the handle of an offer. Rows that
    /// wait at the migration keep the link of a project.
    static let version4 =
        ledgerSamples + """
            INSERT INTO ledger_samples SELECT 0, new, delivered, acknowledged, dead FROM ledger_totals;
            ALTER TABLE notification_outbox ADD COLUMN is_offer INTEGER NOT NULL DEFAULT 0 CHECK (is_offer IN (0, 1));

            """
}
